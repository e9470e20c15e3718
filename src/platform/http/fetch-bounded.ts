/** Maximum bytes of another service's answer (default). */
const USUAL_BYTES = 256 * 1024;

/**
 * `fetch` whose answer fails beyond `maxBytes`, counted after decompression, and then ends the connection: the
 * sender, which may be another than expected, decides its size. The signal of `init` bounds the time, of the body too.
 */
export const fetchBounded = async (
	url: string | URL,
	init: RequestInit,
	maxBytes: number = USUAL_BYTES,
): Promise<Response> => {
	const response = await fetch(url, init);
	let left = maxBytes;
	const counted = new TransformStream<Uint8Array, Uint8Array>({
		transform: (chunk, controller) => {
			left -= chunk.length;
			if (left < 0) {
				throw new Error(`the answer of ${new URL(url).host} has more than ${maxBytes} bytes`);
			}

			controller.enqueue(chunk);
		},
	});
	const {status, headers} = response;
	return new Response(response.body?.pipeThrough(counted) ?? null, {status, headers});
};

/** The reason of a failed request in a few words, such as `connect ECONNREFUSED 127.0.0.1:1`: the fault of a network is the cause of what `fetch` throws. */
export const reasonOf = (error: unknown): string => {
	const {name, message, cause} = error as Error;
	const {message: deeper, code} = (cause ?? {}) as NodeJS.ErrnoException;
	return name === 'TimeoutError' ? 'no answer in time' : deeper || code || message;
};
