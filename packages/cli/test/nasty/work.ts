/** CPU time of this process in ms, children and waiting left out. */
async function cpuOf(task: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const MEGABYTE = 2 ** 20;
/** From small to large, so that a cost that explodes is seen before it takes minutes. */
const SIZES = [2 ** 12, 2 ** 16, 2 ** 18, MEGABYTE];
/** How many times the work of the yardstick an entry may do: a megabyte in all, and a start for small inputs. */
const FACTOR = 30;
const START = 4;

let unit: number | undefined;

/**
 * The yardstick: what a plainly linear pass over a megabyte costs here and now, in ms of CPU. A bound in such units
 * holds on slow and on busy machines, where one in seconds does not. A quadratic cost exceeds it by far: at a
 * megabyte it is at least 10,000 passes.
 */
async function yardstick(): Promise<number> {
  const text = "some words, 12 and \u00e9\n".repeat(MEGABYTE / 20);
  const pass = () =>
    JSON.parse(JSON.stringify(text.split(" ")))
      .join(" ")
      .replace(/\w+/g, (word: string) => word.toUpperCase());
  await cpuOf(pass);
  const costs = [await cpuOf(pass), await cpuOf(pass), await cpuOf(pass)];
  return Math.max(...costs);
}

const allowedFor = (passMs: number, size: number) => passMs * (START + (FACTOR * size) / MEGABYTE);

/**
 * Feeds a task with texts of growing size, up to a megabyte. Out: undefined if its work stays in proportion, else how
 * far it went over, in words. It stops early where even a quadratic cost would stay in the bound at a megabyte. An
 * input that the task refuses by throwing counts like any other.
 */
export async function workProblem(piece: string, task: (text: string) => unknown): Promise<string | undefined> {
  unit ??= await yardstick();
  const refusable = async (text: string) => {
    try {
      await task(text);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  };
  for (const size of SIZES) {
    const text = piece.repeat(Math.ceil(size / piece.length));
    const allowed = allowedFor(unit, size);
    let cost = await cpuOf(() => refusable(text));
    // A second look: the collector or the compiler may have come in between.
    if (cost > allowed && cost < 4 * allowed) cost = await cpuOf(() => refusable(text));
    if (cost > allowed) {
      return `${size} characters cost ${(cost / unit).toFixed(1)} passes, allowed are ${(allowed / unit).toFixed(1)}`;
    }
    if (cost * (MEGABYTE / size) ** 2 <= allowedFor(unit, MEGABYTE)) return undefined;
  }
  return undefined;
}
