/** A schema that cannot be said to a provider; `message` says which part and why. */
export class SchemaError extends Error {}
