const UNITS = ["KB", "MB", "GB", "TB"] as const;

/** A size for people and models: "123 bytes", "50.0 KB", "2.0 GB"; 1 KB is 1,024 bytes. */
export function byteCount(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}
