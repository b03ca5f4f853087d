import { expect, it } from "vitest";
import { shownUrl, urlSecrets } from "./url-secrets.ts";

it.each([
  ["http://user:pa%24s-word1@host:1/v1", ["pa%24s-word1", "pa$s-word1"], "http://user:[secret]@host:1/v1"],
  ["https://token1234@host/", ["token1234"], "https://[secret]@host/"],
  ["http://host/v1?key=abc&x=1", ["abc"], "http://host/v1?key=[secret]&x=1"],
  ["http://host/?a=1&api_key=k1&access_token=t?2#key=no", ["k1", "t?2"], undefined],
  ["http://host:8080/v1?version=2", [], "http://host:8080/v1?version=2"],
  ["http://host/a@b?q=%zz&token=%zz", ["%zz"], undefined],
  ["user:pass@host:3128", [], undefined],
])("R309 %s has %j", (url, secrets, shown) => {
  expect(urlSecrets(url)).toEqual(secrets);
  if (shown !== undefined) expect(shownUrl(url)).toBe(shown);
});
