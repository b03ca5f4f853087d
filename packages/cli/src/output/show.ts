import { LineOutput } from "@tau/host/program";
import { unwritable } from "./tell.ts";

/** Writes a text to stdout, to its end. Throws when it did not get out; that nobody reads any more is not an error (R160). */
export async function show(text: string): Promise<void> {
  const output = new LineOutput(process.stdout);
  await output.write(text);
  await output.flush();
  if (output.failure) throw unwritable(output.failure);
}
