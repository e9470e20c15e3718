/** Headers of a streamed NDJSON answer, which proxies must not hold back either. */
export const ndjsonHeaders = {
	'Content-Type': 'application/x-ndjson',
	'Cache-Control': 'no-store',
	'X-Accel-Buffering': 'no',
};
