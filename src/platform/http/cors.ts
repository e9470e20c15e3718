/** Headers by which any origin may read an answer (contract/hosts 6). */
export const anyOrigin = {
	'Access-Control-Allow-Origin': '*',
	'Access-Control-Expose-Headers': 'X-Request-Id, X-Error-Code',
};

/** Further headers of the answer to a preflight. */
export const preflight = {
	'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
	'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-API-Key, X-Request-Id',
	'Access-Control-Max-Age': '86400',
};
