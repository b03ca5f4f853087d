import assert from "node:assert/strict";
import { test } from "node:test";
import { discounted } from "../src/price.js";

test("a quarter off", () => {
  assert.equal(discounted(80, 25), 60);
});

test("nothing off", () => {
  assert.equal(discounted(19.99, 0), 19.99);
});
