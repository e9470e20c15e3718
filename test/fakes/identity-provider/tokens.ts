import {randomBytes} from 'node:crypto';
import {SignJWT} from 'jose';
import {type Directory, membershipsWhere} from './directory.ts';
import {primaryEmailOf} from './present.ts';
import {idOf, newId, type Ref} from './records.ts';
import type {SigningKeys} from './signing-keys.ts';

/** Header `cat` of the kinds of token that an instance signs (contract/identity 2). */
const categories = {session: 'cl_B7d4PD111AAA', template: 'cl_B7d4PD222AAA', machine: 'cl_B7d4PD333AAA'};

export type TokenInput = {
	user: Ref;
	/** The active organization; without one the session is pending, as on an instance without personal accounts. */
	organization?: Ref | null;
	/** Short for `orgMetadata: {role}`. By default the membership's own metadata, or null where there is none. */
	role?: string;
	/** The claim as it is; given as undefined it is left out. */
	orgMetadata?: unknown;
	/** Form of the claims: 2 has the compact `o`, 1 is flat. */
	version?: 1 | 2;
	/** Seconds until it expires. */
	ttl?: number;
	/** When it was issued; by default now. */
	issuedAt?: Date;
	kind?: keyof typeof categories;
	/** Claims that replace or join the others; undefined leaves one out. */
	claims?: Record<string, unknown>;
	/** Members that replace or join those of the header; undefined leaves one out. */
	header?: Record<string, unknown>;
	/**
	 * `previous`: by the key before the rotation. `foreign`: by somebody else's key under our key's id.
	 * `none`: alg none, no signature. `hmac`: HS256 with our public key as the secret, the confusion of algorithms.
	 */
	signedBy?: 'current' | 'previous' | 'foreign' | 'none' | 'hmac';
};

const defaultTtl = 60;
/** `nbf` lies a little before `iat`. */
const notBeforeLead = 10;

const organizationClaims = (input: TokenInput, version: 1 | 2) => {
	const {organization = null} = input;
	if (organization === null) {
		return {};
	}

	const id = idOf(organization);
	return version === 2 ? {o: {id, rol: 'member'}} : {org_id: id, org_role: 'org:member', org_permissions: []};
};

const metadataClaim = (directory: Directory, input: TokenInput): unknown => {
	if ('orgMetadata' in input) {
		return input.orgMetadata;
	}

	const {user, organization = null, role} = input;
	if (role !== undefined) {
		return {role};
	}

	const [membership] =
		organization === null ? [] : membershipsWhere(directory, {organizationId: idOf(organization), userId: idOf(user)});
	return membership?.public_metadata ?? null;
};

/** The claims of a session as the provider would write them. */
const claimsOf = (directory: Directory, issuer: string, input: TokenInput): Record<string, unknown> => {
	const {user, organization = null, version = 2, ttl = defaultTtl} = input;
	const known = directory.users.get(idOf(user));
	const iat = Math.floor((input.issuedAt ?? directory.clock.now()).getTime() / 1000);
	return {
		azp: 'https://portal.example.com',
		exp: iat + ttl,
		fva: [3, -1],
		iat,
		iss: issuer,
		nbf: iat - notBeforeLead,
		sid: newId('sess'),
		sub: idOf(user),
		...(version === 2
			? {v: 2, jti: randomBytes(10).toString('hex'), sts: organization === null ? 'pending' : 'active'}
			: {}),
		...organizationClaims(input, version),
		org_metadata: metadataClaim(directory, input),
		email: known === undefined ? null : primaryEmailOf(known),
		...input.claims,
	};
};

const withoutUndefined = (object: Record<string, unknown>): Record<string, unknown> =>
	Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

const encoded = (object: object): string => Buffer.from(JSON.stringify(object)).toString('base64url');

/** A session token, or one that is like it but for what the caller said. */
export const mintToken = async (
	{directory, keys, issuer}: {directory: Directory; keys: SigningKeys; issuer: string},
	input: TokenInput,
): Promise<string> => {
	const {signedBy = 'current', kind = 'session'} = input;
	const claims = withoutUndefined(claimsOf(directory, issuer, input));
	const headerOf = (alg: string, kid: string) => ({
		alg,
		...withoutUndefined({typ: 'JWT', kid, cat: categories[kind], ...input.header}),
	});
	if (signedBy === 'none') {
		return `${encoded(headerOf('none', keys.current().kid))}.${encoded(claims)}.`;
	}

	const current = keys.current();
	if (signedBy === 'hmac') {
		const secret = new TextEncoder().encode(current.publicPem);
		return new SignJWT(claims).setProtectedHeader(headerOf('HS256', current.kid)).sign(secret);
	}

	const key = signedBy === 'current' ? current : await keys[signedBy]();
	return new SignJWT(claims).setProtectedHeader(headerOf('RS256', key.kid)).sign(key.privateKey);
};
