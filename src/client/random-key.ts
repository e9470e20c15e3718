const chunk = (): string => Math.random().toString(36).slice(2).padEnd(11, '0');

/**
 * A key that no other request has. Hermes and pages on plain http have no crypto.randomUUID; Math.random will do there,
 * since the key has to be new among those of one organization and need not be hard to guess.
 */
export const randomKey = (): string => {
	const {crypto} = globalThis as {crypto?: {randomUUID?: () => string}};
	return crypto?.randomUUID?.() ?? `${chunk()}${chunk()}${chunk()}`;
};
