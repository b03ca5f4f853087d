import { describe, expect, it } from "vitest";
import type { Model } from "../../protocol/model.ts";
import { samplingFields } from "./sampling.ts";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const model: Model = {
  ...{ id: "m", name: "m", api: "openai-completions", provider: "p", baseUrl: "http://h", reasoning: true },
  ...{ input: ["text"], cost, contextWindow: 1000, maxTokens: 100 },
  samplingParams: { temperature: 1, top_p: 0.95, model: "other", messages: [] },
  samplingParamsByThinkingLevel: { off: { temperature: 0.7 }, high: { top_k: 20 } },
};

describe("samplingFields", () => {
  it("lays the parameters of the level over those of the model, and leaves the request's own fields alone", () => {
    expect(samplingFields(model, { thinkingLevel: "high" })).toEqual({ temperature: 1, top_p: 0.95, top_k: 20 });
    expect(samplingFields(model, { thinkingLevel: "off" })).toEqual({ temperature: 0.7, top_p: 0.95 });
    expect(samplingFields(model, {})).toEqual({ temperature: 0.7, top_p: 0.95 });
  });

  it("goes by the level that is taken for one that the model lacks", () => {
    const byLevel = { medium: { top_k: 10 }, high: { top_k: 20 }, max: { top_k: 30 } };
    const lacking: Model = { ...model, thinkingLevelMap: { high: null }, samplingParamsByThinkingLevel: byLevel };
    expect(samplingFields(lacking, { thinkingLevel: "high" })).toMatchObject({ top_k: 10 });
    expect(samplingFields(lacking, { thinkingLevel: "max" })).toMatchObject({ top_k: 10 });
    const all: Model = { ...lacking, thinkingLevelMap: { max: "ultra" } };
    expect(samplingFields(all, { thinkingLevel: "max" })).toMatchObject({ top_k: 30 });
  });

  it("gives way to the request's temperature", () => {
    expect(samplingFields(model, { thinkingLevel: "low", temperature: 0 })).toEqual({ top_p: 0.95 });
  });
});
