/** A figure or a distribution, with where it comes from. */
export type Stated<T> = {value: T; source: string};

/** Nobody publishes it, or nobody for the place and time at hand. */
export const assumed = <T>(value: T): Stated<T> => ({value, source: 'assumed'});

export const from = <T>(source: string, value: T): Stated<T> => ({value, source});
