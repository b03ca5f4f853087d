import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validateArguments } from "./validate.ts";

const object = (properties: object, required: string[] = Object.keys(properties), more: object = {}) => ({
  type: "object",
  properties,
  required,
  ...more,
});
const one = (schema: unknown, value: unknown, required = ["v"]) => {
  const outcome = validateArguments(object({ v: schema as object }, required), { v: value });
  return outcome.ok ? outcome.args.v : outcome.text;
};

describe("arguments", () => {
  it.each([
    [{ type: "number" }, "42", 42],
    [{ type: "number" }, "-1.5e2", -150],
    [{ type: "integer" }, "20", 20],
    [{ type: "integer" }, 5.0, 5],
    [{ type: "boolean" }, "true", true],
    [{ type: "boolean" }, "false", false],
    [{ type: "array", items: { type: "number" } }, '["1", 2]', [1, 2]],
    [{ type: "object", properties: { a: { type: "number" } } }, '{"a":"1"}', { a: 1 }],
    [{ type: ["number", "null"] }, "7", 7],
    [{ type: ["string", "number"] }, "7", "7"],
    [{ anyOf: [{ type: "number" }, { type: "null" }] }, "7", 7],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "7", "7"],
    [{ enum: [1, 2] }, "2", 2],
    [{ const: true }, "true", true],
    [{ type: "null" }, null, null],
    [{ $ref: "#/nowhere" }, { a: 1 }, { a: 1 }],
    [{ type: "made-up" }, "x", "x"],
    [{ pattern: "(" }, "x", "x"],
    [true, 5, 5],
  ])("C7 %j takes %j as %j", (schema, value, expected) => {
    expect(one(schema, value)).toEqual(expected);
  });

  it.each([
    [{ type: "number" }, "abc", 'expected number, received string "abc"'],
    [{ type: "number" }, "", "expected number"],
    [{ type: "number" }, " 4 ", "expected number"],
    [{ type: "number" }, "4px", "expected number"],
    [{ type: "number" }, "0x10", "expected number"],
    [{ type: "number" }, "1e999", "expected number"],
    [{ type: "number" }, true, "expected number, received boolean"],
    [{ type: "integer" }, "1.5", "expected integer"],
    [{ type: "integer" }, "12345678901234567890", "expected integer"],
    [{ type: "boolean" }, "yes", "expected boolean"],
    [{ type: "boolean" }, "True", "expected boolean"],
    [{ type: "boolean" }, 1, "expected boolean"],
    [{ type: "string" }, 5, "expected string, received number 5"],
    [{ type: "string" }, null, "expected string, received null"],
    [{ type: "array" }, "a,b", "expected array"],
    [{ type: "array" }, '{"a":1}', "expected array"],
    [{ type: "array", items: { type: "number" } }, [1, "x"], "v[1]: expected number"],
    [{ type: "object" }, [], "expected object, received array"],
    [{ enum: ["a", "b"] }, "c", 'expected "a" | "b", received string "c"'],
    [{ anyOf: [{ type: "number" }, { type: "boolean" }] }, "x", "expected number | boolean"],
    [{ allOf: [{ type: "number" }, { minimum: 3 }] }, 2, "minimum 3"],
    [{ type: "number", maximum: 3 }, "4", "maximum 3"],
    [{ exclusiveMinimum: 3 }, 3, "exclusiveMinimum 3"],
    [{ type: "string", minLength: 2 }, "x", "minLength 2"],
    [{ type: "string", pattern: "^a+$" }, "b", "pattern ^a+$"],
    [{ type: "array", maxItems: 1 }, [1, 2], "maxItems 1, received 2 items"],
  ])("C7 %j refuses %j, never guessing", (schema, value, expected) => {
    expect(one(schema, value)).toContain(expected);
  });

  it("C7 null stands for an absent optional field, unless null is a value of it", () => {
    expect(one({ type: "string" }, null, [])).toBeUndefined();
    expect(validateArguments(object({ v: { type: ["string", "null"] } }, []), { v: null })).toEqual({
      ok: true,
      args: { v: null },
    });
    expect(
      validateArguments(object({ v: { anyOf: [{ type: "string" }, { type: "null" }] } }, []), { v: null }),
    ).toEqual({ ok: true, args: { v: null } });
  });

  it("C7 unknown fields are left out where the schema forbids them, and kept where it is open", () => {
    expect(validateArguments(object({ a: {} }, [], { additionalProperties: false }), { a: 1, b: 2 })).toEqual({
      ok: true,
      args: { a: 1 },
    });
    expect(validateArguments({ type: "object" }, { any: 1 })).toEqual({ ok: true, args: { any: 1 } });
    expect(validateArguments({ type: "object", additionalProperties: { type: "number" } }, { any: "1" })).toEqual({
      ok: true,
      args: { any: 1 },
    });
    const union = {
      anyOf: [
        object({ a: {} }, [], { additionalProperties: false }),
        object({ b: {} }, [], { additionalProperties: false }),
      ],
    };
    expect(one(union, { b: 1 })).toEqual({ b: 1 });
  });

  it("C7 references, also recursive ones, are followed", () => {
    const schema = {
      $ref: "#/$defs/node",
      $defs: { node: object({ value: { type: "number" }, next: { $ref: "#/$defs/node" } }, ["value"]) },
    };
    expect(validateArguments(schema, { value: "1", next: { value: "2" } })).toEqual({
      ok: true,
      args: { value: 1, next: { value: 2 } },
    });
    expect(validateArguments(schema, { value: 1, next: { value: "x" } })).toMatchObject({
      ok: false,
      text: expect.stringContaining("next.value: expected number"),
    });
    expect(validateArguments({ $ref: "#" }, { a: 1 })).toEqual({ ok: true, args: { a: 1 } });
  });

  it("R014 the text names every fault, unknown and received fields, and the schema in short", () => {
    const schema = object(
      {
        path: { type: "string" },
        edits: { type: "array", items: object({ oldText: { type: "string" } }) },
        mode: { enum: ["a", "b"] },
      },
      ["path", "edits"],
      { additionalProperties: false },
    );
    const outcome = validateArguments(schema, { file: "x", edits: [{ oldText: 5 }, {}] });
    expect(outcome.ok).toBe(false);
    if (outcome.ok) return;
    for (const part of [
      ...[
        "path: missing, expected string",
        "edits[0].oldText: expected string, received number 5",
        "edits[1].oldText: missing",
      ],
      ...[
        "file: unknown field",
        "Received: file, edits",
        'Expected: {path: string, edits: {oldText: string}[], mode?: "a" | "b"}',
      ],
    ])
      expect(outcome.text).toContain(part);
  });

  it("C7 no schema and no arguments break the validator, and names of the prototype are plain names", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (schema, args) => {
          const outcome = validateArguments(schema, args as Record<string, unknown>);
          expect(typeof outcome.ok).toBe("boolean");
        },
      ),
      { numRuns: 300 },
    );
    const outcome = validateArguments(
      object({ a: {} }, ["constructor"]),
      JSON.parse('{"__proto__": {"x": 1}, "toString": 1}'),
    );
    expect(outcome.ok).toBe(false);
  });

  it("C7 arguments that fit are passed on as they are", () => {
    const schema = object({
      s: { type: "string" },
      n: { type: "number" },
      b: { type: "boolean" },
      l: { type: "array", items: { type: "string" } },
    });
    const values = fc.record({
      s: fc.string(),
      n: fc.double({ noNaN: true, noDefaultInfinity: true }),
      b: fc.boolean(),
      l: fc.array(fc.string()),
    });
    fc.assert(
      fc.property(values, (args) => {
        expect(validateArguments(schema, args)).toEqual({ ok: true, args: { ...args } });
      }),
      { numRuns: 100 },
    );
  });
});
