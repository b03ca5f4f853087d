/** A command failed since it wanted something from a person (R082). */
export interface PersonNeed {
  kind: "password" | "terminal";
  /** For the model. */
  hint: string;
}

/** What programs print in that case, one row a program or kind of program. */
const SIGNS: readonly { kind: PersonNeed["kind"]; sign: RegExp }[] = [
  {
    kind: "password",
    sign: /^sudo: .{0,200}(a terminal is required|a password is required|no tty present|no askpass)/m,
  },
  { kind: "password", sign: /^(su|doas|passwd|kinit|pkexec): .{0,200}(terminal|tty|authenticat|password)/im },
  { kind: "password", sign: /could not read (Username|Password|Passphrase) for|terminal prompts disabled/ },
  { kind: "password", sign: /Permission denied \([a-z,-]{0,100}(publickey|password|keyboard-interactive)/ },
  { kind: "password", sign: /Host key verification failed/ },
  { kind: "password", sign: /^gpg: .{0,200}(cannot open '\/dev\/tty'|Inappropriate ioctl|No pinentry)/m },
  {
    kind: "terminal",
    sign: /\/dev\/tty: (No such device or address|Device not configured)|Inappropriate ioctl for device/,
  },
  { kind: "terminal", sign: /^Vim: Warning: Input is not from a terminal/m },
  {
    kind: "terminal",
    sign: /(not a (tty|terminal)\b|must be run from a terminal|requires? (a|an interactive) (tty|terminal))/i,
  },
];

const WANTED = { password: "a password or another confirmation", terminal: "a terminal" } as const;

/** What a program writes after the sign; an editor draws a whole screen. */
const SIGN_CHARACTERS = 16_384;

/** What the end of a failed command's output says about it; undefined when there is no such sign. */
export function needOfPerson(output: string): PersonNeed | undefined {
  const found = SIGNS.find(({ sign }) => sign.test(output.slice(-SIGN_CHARACTERS)));
  if (!found) return undefined;
  const hint = `needs a person: it wants ${WANTED[found.kind]}, and here is none. Use a way without a prompt, or ask the user to run it`;
  return { kind: found.kind, hint };
}
