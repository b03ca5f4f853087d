// Lists the laws and reports that no test starts with: `npm run coverage:laws`. It never fails.
import { uncovered } from "./check/citations.mjs";

const missing = uncovered();
const print = (title, ids) => console.log(`${title} without a test (${ids.length}): ${ids.join(" ") || "none"}`);
print(
  "laws",
  missing.filter((id) => !/^R\d{3}$/.test(id)),
);
print(
  "reports",
  missing.filter((id) => /^R\d{3}$/.test(id)),
);
