/** A position in a journal: everything before it is in the tables. */
export type Position = {segment: number; position: number};
