import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../protocol/tool.ts";
import { lowerTools, SCHEMA_PROFILES, type SchemaProfile } from "./tool-schemas.ts";

const { openai, anthropic, google } = SCHEMA_PROFILES;
const tool = (parameters: unknown, name = "t") => ({ name, description: "d", parameters: parameters as JsonSchema });
const lower = (parameters: unknown, profile: SchemaProfile = openai) => lowerTools([tool(parameters)], profile);
const lowered = (parameters: unknown, profile?: SchemaProfile) => lower(parameters, profile).tools[0]?.parameters;
/** What becomes of the schema of one parameter. */
const property = (schema: unknown, profile?: SchemaProfile, more: object = {}) =>
  (lowered({ type: "object", properties: { p: schema }, ...more }, profile)?.properties as JsonSchema | undefined)?.p;

const ALLOWED = {
  openai: [
    ...["type", "enum", "properties", "required", "items", "anyOf", "description", "additionalProperties", "default"],
    ...["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"],
  ],
  google: [
    ...["type", "enum", "properties", "required", "items", "anyOf", "description", "nullable"],
    ...["minimum", "maximum", "minItems", "maxItems"],
  ],
};

/** All keywords in a schema, names of properties not among them. */
function keywordsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsOf);
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === "enum" || key === "default") return [key];
    return [key, ...(key === "properties" ? Object.values(value).flatMap(keywordsOf) : keywordsOf(value))];
  });
}

describe("lowering a schema", () => {
  it.each([
    [
      "$schema and unknown keywords",
      { $schema: "x", type: "string", $comment: "c", contentEncoding: "b" },
      { type: "string" },
    ],
    ["const", { const: "a" }, { type: "string", enum: ["a"] }],
    ["const null", { const: null }, { type: "null", enum: [null] }],
    [
      "oneOf",
      { oneOf: [{ const: 1 }, { type: "string" }] },
      { anyOf: [{ type: "integer", enum: [1] }, { type: "string" }] },
    ],
    ["oneOf with one", { description: "d", oneOf: [{ type: "string" }] }, { type: "string", description: "d" }],
    ["equal variants", { anyOf: [{ type: "string" }, { type: "string", title: "x" }] }, { type: "string" }],
    ["empty variant", { type: "string", anyOf: [{}, { maxLength: 3 }] }, { type: "string" }],
    ["exclusiveMinimum of integers", { type: "integer", exclusiveMinimum: 0 }, { type: "integer", minimum: 1 }],
    ["exclusiveMaximum of integers", { type: "integer", exclusiveMaximum: 9.5 }, { type: "integer", maximum: 9 }],
    ["exclusiveMinimum of numbers", { type: "number", exclusiveMinimum: 0.5 }, { type: "number", minimum: 0.5 }],
    [
      "exclusiveMinimum, draft 4",
      { type: "integer", minimum: 1, exclusiveMinimum: true },
      { type: "integer", minimum: 2 },
    ],
    [
      "tuple, items",
      { type: "array", items: [{ type: "string" }, { type: "number" }] },
      { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    ],
    [
      "tuple, prefixItems",
      { prefixItems: [{ type: "string" }, { type: "string" }], items: false },
      { type: "array", items: { type: "string" } },
    ],
    ["array without items", { type: "array" }, { type: "array", items: {} }],
    [
      "no type, properties",
      { properties: { a: { type: "string" } } },
      { type: "object", properties: { a: { type: "string" } } },
    ],
    ["no type, enum", { enum: ["a", "b"] }, { type: "string", enum: ["a", "b"] }],
    ["no type, nothing", { title: "Any" }, {}],
    ["true", true, {}],
    ["unknown type", { type: "any" }, {}],
    ["nullable", { type: "string", nullable: true }, { type: "string" }],
    [
      "allOf",
      { allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { minimum: 1 } } }] },
      { type: "object", properties: { a: { type: "string" }, b: { type: "number", minimum: 1 } }, required: ["a"] },
    ],
    [
      "required of nothing",
      { type: "object", properties: { a: {} }, required: ["a", "b", "a"] },
      { type: "object", properties: { a: {} }, required: ["a"] },
    ],
    [
      "if/else, dependencies",
      { type: "object", if: {}, else: {}, dependentRequired: {}, minProperties: 1 },
      { type: "object" },
    ],
    [
      "property named like a keyword",
      { type: "object", properties: { const: { type: "string" }, $ref: { type: "null" } } },
      { type: "object", properties: { const: { type: "string" }, $ref: { type: "null" } } },
    ],
  ])("R041 %s", (name, schema, expected) => {
    expect(property(schema)).toEqual(name === "nullable" ? { type: ["string", "null"] } : expected);
  });

  it("R041 a parameter that allows nothing is left out", () => {
    const schema = {
      type: "object",
      properties: { a: false, b: { not: {} }, c: { not: true }, d: {} },
      required: ["a", "d"],
    };
    expect(lowered(schema)).toEqual({ type: "object", properties: { d: {} }, required: ["d"] });
  });

  it("R041 $ref is inlined, with what stands beside it", () => {
    const $defs = {
      name: { type: "string", description: "old" },
      list: { type: "array", items: { $ref: "#/$defs/name" } },
    };
    expect(property({ $ref: "#/$defs/list", description: "new" }, openai, { $defs })).toEqual({
      ...{ type: "array", description: "new" },
      items: { type: "string", description: "old" },
    });
    expect(property({ $ref: "#/definitions/a~1b%20c" }, openai, { definitions: { "a/b c": { const: 1 } } })).toEqual({
      type: "integer",
      enum: [1],
    });
    expect(property({ $ref: "#there" }, openai, { $defs: { x: { $anchor: "there", type: "null" } } })).toEqual({
      type: "null",
    });
    expect(
      lowered({ $ref: "#/$defs/args", $defs: { args: { type: "object", properties: { a: { type: "string" } } } } }),
    ).toEqual({
      ...{ type: "object", properties: { a: { type: "string" } } },
    });
  });

  it("R041 a recursion ends in a schema that names its type", () => {
    const node = {
      type: "object",
      properties: { next: { $ref: "#/$defs/node" }, all: { type: "array", items: { $ref: "#" } } },
    };
    expect(property({ $ref: "#/$defs/node" }, openai, { $defs: { node } })).toEqual({
      type: "object",
      properties: { next: { type: "object" }, all: { type: "array", items: { type: "object" } } },
    });
    const cyclic: JsonSchema = { type: "object" };
    cyclic.properties = { again: cyclic, more: cyclic };
    expect(JSON.stringify(lowered(cyclic)).length).toBeLessThan(1_000_000);
  });

  it("R041 a choice at the top becomes one object", () => {
    const file = { properties: { kind: { const: "file" }, path: { type: "string" } }, required: ["kind", "path"] };
    const link = {
      properties: { kind: { const: "link" }, path: { type: "number" }, url: { type: "string" } },
      required: ["kind"],
    };
    for (const key of ["anyOf", "oneOf"]) {
      expect(lowered({ [key]: [file, link, { type: "null" }] })).toEqual({
        type: "object",
        properties: {
          kind: { type: "string", enum: ["file", "link"] },
          path: { anyOf: [{ type: "string" }, { type: "number" }] },
          url: { type: "string" },
        },
        required: ["kind"],
      });
    }
    const needsOne = {
      type: "object",
      properties: { a: {}, b: {} },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(lowered(needsOne)).toEqual({ type: "object", properties: { a: {}, b: {} } });
  });

  it("R041 nothing, true and no type are an object without parameters", () => {
    for (const schema of [undefined, true, {}, { type: "object" }, { $schema: "x" }, { type: ["object", "null"] }]) {
      expect(lowered(schema)).toEqual({ type: "object", properties: {} });
    }
  });

  it("R041 each dialect has its own words", () => {
    const list = { type: ["string", "null"], enum: ["a", null], pattern: "^a", default: "a" };
    expect(property(list, openai)).toEqual({
      type: ["string", "null"],
      enum: ["a", null],
      pattern: "^a",
      default: "a",
    });
    expect(property(list, google)).toEqual({ type: "string", nullable: true, description: 'One of: "a", null.' });
    expect(property({ anyOf: [{ type: "string" }, { type: "null" }] }, google)).toEqual({
      type: "string",
      nullable: true,
    });
    expect(property({}, google)).toEqual({ type: "string" });
    expect(lower({ properties: { größe: {} } }, anthropic).tools).toHaveLength(1);
    expect(lower({ properties: { größe: {} }, required: ["größe"] }, anthropic).warnings[0]).toContain(
      '"größe" is not allowed',
    );
  });

  it("R041 a tool that cannot be said is left out with a warning, the others work", () => {
    const bad = [
      false,
      null,
      "x",
      { type: "string" },
      { anyOf: [{ type: "string" }] },
      { properties: { a: { $ref: "http://x/y" } } },
    ];
    for (const schema of bad) {
      const { tools, warnings } = lowerTools([tool({}, "a"), tool(schema, "bad one"), tool({}, "b")], openai);
      expect(tools.map(({ name }) => name)).toEqual(["a", "b"]);
      expect(warnings).toEqual([expect.stringContaining('The model does not get the tool "bad one": its ')]);
    }
  });

  it("R165 two tools of one name, and names the API does not take", () => {
    const { tools, warnings } = lowerTools([tool({}, "x"), tool({}, "x"), tool({}, "a.b c/ü".repeat(30))], openai);
    expect(tools).toHaveLength(2);
    expect(tools[1]?.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(warnings).toEqual(['The model does not get the tool "x": another tool has its name.']);
  });

  it("O1 a schema object is lowered once", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    expect(lowered(schema)).toBe(lowered(schema));
    expect(lowered(schema, anthropic)).not.toBe(lowered(schema));
  });
});

const names = fc.constantFrom("a", "b", "type", "const");
const { schema: anySchema } = fc.letrec((tie) => {
  const child = fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    fc.constantFrom(true, false, {}),
    tie("schema"),
  );
  const children = fc.array(child, { maxLength: 2 });
  return {
    schema: fc.record(
      {
        type: fc.oneof(
          fc.constantFrom("object", "array", "string", "integer", "any", 7),
          fc.subarray(["string", "object", "array", "null"]),
        ),
        properties: fc.dictionary(names, child, { maxKeys: 2 }),
        required: fc.array(names, { maxLength: 2 }),
        items: fc.oneof(child, children),
        prefixItems: children,
        anyOf: children,
        oneOf: children,
        allOf: children,
        not: child,
        if: child,
        const: fc.jsonValue({ maxDepth: 1 }),
        enum: fc.array(fc.constantFrom("x", 1, null), { maxLength: 3 }),
        $ref: fc.constantFrom("#", "#/properties/a", "#/anyOf/0", "#/$defs/d"),
        $defs: fc.record({ d: child }),
        additionalProperties: child,
        patternProperties: fc.dictionary(names, child, { maxKeys: 1 }),
        exclusiveMinimum: fc.oneof(fc.boolean(), fc.integer()),
        minimum: fc.oneof(fc.integer(), fc.constant("1")),
        description: fc.constantFrom("d", 3),
        nullable: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  };
});

describe("any schema", () => {
  it.each(["openai", "google"] as const)("R041 speaks %s or is left out", (dialect) => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const before = JSON.stringify(schema);
        const { tools, warnings } = lower(schema, SCHEMA_PROFILES[dialect]);
        expect(tools.length + warnings.length).toBe(1);
        expect(JSON.stringify(schema)).toBe(before);
        const result = tools[0]?.parameters;
        if (!result) return;
        expect(result.type).toBe("object");
        for (const keyword of keywordsOf(result)) expect(ALLOWED[dialect]).toContain(keyword);
        expect(result).not.toHaveProperty("anyOf");
        expect(JSON.stringify(lower(structuredClone(schema), SCHEMA_PROFILES[dialect]).tools[0]?.parameters)).toBe(
          JSON.stringify(result),
        );
      }),
      { numRuns: 200 },
    );
  });
});
