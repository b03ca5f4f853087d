import { expect, it } from "vitest";
import { headerSecrets, requestSecrets } from "./header-secrets.ts";

it("R143 headers are secret by their names or by what they hold", () => {
  expect(headerSecrets({ Authorization: "Bearer abc", "X-Api-Key": "k1", "x-team": "3fb0c9d2aa17e4ff" })).toEqual([
    "Bearer abc",
    "abc",
    "k1",
    "3fb0c9d2aa17e4ff",
  ]);
  const plain = {
    "x-title": "my program",
    "x-stage": "production",
    "anthropic-beta": "interleaved-thinking-2025-05-14",
  };
  expect(headerSecrets({ ...plain, referer: "https://example.org/app1/2" })).toEqual([]);
  expect(headerSecrets()).toEqual([]);
});

it("R143 the secrets of a request are its key and the secret headers of model and caller", () => {
  const model = { headers: { "x-token": "team", "x-title": "t" } };
  const options = { apiKey: "key", headers: { "X-Other-Key": "more" } };
  expect(requestSecrets(model, options)).toEqual(["key", "team", "more"]);
  expect(requestSecrets({}, {})).toEqual([]);
});
