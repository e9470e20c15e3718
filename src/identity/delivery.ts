/**
 * A delivery with a verified signature. `id` is the same for all attempts. `at`: the time of the event, if the provider
 * sends it.
 */
export type Delivery = {id: string; type: string; data: unknown; at: Date | null};
