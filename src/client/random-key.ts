const chunk = (): string => Math.random().toString(36).slice(2).padEnd(11, '0');

/**
 * A unique request key. Hermes and pages on plain http lack crypto.randomUUID; Math.random suffices there, since the
 * key must only be unique within an organization and not be hard to guess.
 */
export const randomKey = (): string => {
	const {crypto} = globalThis as {crypto?: {randomUUID?: () => string}};
	return crypto?.randomUUID?.() ?? `${chunk()}${chunk()}${chunk()}`;
};
