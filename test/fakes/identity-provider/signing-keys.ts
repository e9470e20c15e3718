import {type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK} from 'jose';
import {newId} from './records.ts';

export type SigningKey = {kid: string; privateKey: CryptoKey; jwk: JWK; publicPem: string};

const createKey = async (): Promise<SigningKey> => {
	const {publicKey, privateKey} = await generateKeyPair('RS256', {extractable: true});
	const kid = newId('ins');
	const jwk = {use: 'sig', ...(await exportJWK(publicKey)), kid, alg: 'RS256'};
	return {kid, privateKey, jwk, publicPem: await exportSPKI(publicKey)};
};

export type SigningKeys = Awaited<ReturnType<typeof createSigningKeys>>;

export const createSigningKeys = async () => {
	let current = await createKey();
	let previous = current;
	let published = [current];
	let foreign: Promise<SigningKey> | null = null;
	return {
		current: () => current,
		/** What signed before the last rotation; the current one where there was none. */
		previous: () => previous,
		/** A key of somebody else that claims the current key's id. */
		foreign: async (): Promise<SigningKey> => {
			foreign ??= createKey();
			return {...(await foreign), kid: current.kid};
		},
		/** Signs with a new key from now on; `keepOld` leaves the others in the key set (the default). */
		rotate: async ({keepOld = true} = {}): Promise<void> => {
			const next = await createKey();
			previous = current;
			current = next;
			published = keepOld ? [next, ...published] : [next];
		},
		keySet: () => ({keys: published.map(({jwk}) => jwk)}),
	};
};
