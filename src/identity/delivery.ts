/**
 * A delivery whose signature was verified. `id` is the same for every attempt to deliver it.
 * `at`: when it happened, where the provider says so.
 */
export type Delivery = {id: string; type: string; data: unknown; at: Date | null};
