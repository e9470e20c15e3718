import {type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK} from 'jose';
import {newId} from './records.ts';

export type SigningKey = {kid: string; privateKey: CryptoKey; jwk: JWK; publicPem: string};

const createKey = async (): Promise<SigningKey> => {
	const {publicKey, privateKey} = await generateKeyPair('RS256', {extractable: true});
	const kid = newId('ins');
	const jwk = {use: 'sig', ...(await exportJWK(publicKey)), kid, alg: 'RS256'};
	return {kid, privateKey, jwk, publicPem: await exportSPKI(publicKey)};
};

export type SigningKeys = {
	current(): SigningKey;
	/** What signed before the last rotation; the current one where there was none. */
	previous(): SigningKey;
	/** A key of somebody else that claims the current key's id. */
	foreign(): Promise<SigningKey>;
	/** Signs with a new key from now on; `keepOld` leaves the others in the key set (the default). */
	rotate(options?: {keepOld?: boolean}): Promise<void>;
	keySet(): {keys: JWK[]};
};

export const createSigningKeys = async (): Promise<SigningKeys> => {
	let current = await createKey();
	let previous = current;
	let published = [current];
	let foreign: Promise<SigningKey> | null = null;
	return {
		current: () => current,
		previous: () => previous,
		foreign: async () => {
			foreign ??= createKey();
			return {...(await foreign), kid: current.kid};
		},
		rotate: async ({keepOld = true} = {}) => {
			const next = await createKey();
			previous = current;
			current = next;
			published = keepOld ? [next, ...published] : [next];
		},
		keySet: () => ({keys: published.map(({jwk}) => jwk)}),
	};
};
