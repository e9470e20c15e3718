/** The token of `Authorization: Bearer <token>` (RFC 6750, 2.1; the scheme is case-insensitive), or null. */
export const bearerTokenOf = (authorization: string | undefined): string | null =>
	/^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
