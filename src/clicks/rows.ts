/** A SELECT or an item of a FROM, and the values that it binds. */
export type Rows = {sql: string; bindings: Record<string, unknown>};
