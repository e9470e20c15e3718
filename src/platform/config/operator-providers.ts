import {readFileSync} from 'node:fs';
import {allScopes, MODERATION, presetNames} from './operator-scopes.ts';

/** A rule: claims that must all match, and the scopes of a token that has them. */
export type OperatorRule = {
	/** By the claim's name or its path with dots; `*` at the end of a text stands for any rest. */
	claims: Record<string, string | string[]>;
	scopes: string[];
	/** The only organization, by its id or orgKey. */
	org?: string;
};

/** An OpenID Connect provider whose tokens are accepted from operators (contract/api-keys 12). */
export type OperatorProvider = {
	issuer: string;
	audience: string;
	/** Of the client by which people sign in with `oplink login --oidc`. */
	clientId?: string;
	rules: OperatorRule[];
};

/** A name of a scope or of a preset. */
const NAMES: ReadonlySet<unknown> = new Set([...allScopes, ...presetNames]);

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;
const fieldsIn = (value: unknown): Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const unknownFields = (at: string, value: unknown, known: readonly string[]): string[] =>
	Object.keys(fieldsIn(value))
		.filter((name) => !known.includes(name))
		.map((name) => `${at}: ${name} is not allowed`);

/** Sentences on the shape of a rule. By hand: joi would be loaded before the first page. */
const ruleFaults = (at: string, rule: unknown): string[] => {
	const {claims, scopes, org} = fieldsIn(rule);
	const wanted = Object.values(fieldsIn(claims));
	return [
		...(wanted.length > 0 && wanted.every((value) => isText(value) || (isList(value) && value.every(isText)))
			? []
			: [`${at}: claims must name at least one claim, each with a text or a list of texts`]),
		...(isList(scopes) && scopes.every((scope) => NAMES.has(scope))
			? []
			: [`${at}: scopes must be a list of ${[...NAMES].join(', ')}`]),
		...(org === undefined || isText(org) ? [] : [`${at}: org must be an id or orgKey`]),
		...(org !== undefined && isList(scopes) && scopes.includes(MODERATION)
			? [`${at}: scopes must not name ${MODERATION} for one organization: leave it or org out`]
			: []),
		...unknownFields(at, rule, ['claims', 'scopes', 'org']),
	];
};

const providerFaults = (provider: unknown, index: number): string[] => {
	const at = `entry ${index + 1}`;
	const {issuer, audience, clientId, rules} = fieldsIn(provider);
	return [
		...(isText(issuer) && URL.canParse(issuer) && /^https?:$/.test(new URL(issuer).protocol)
			? []
			: [`${at}: issuer must be an https URL`]),
		...(isText(audience) ? [] : [`${at}: audience must be a text`]),
		...(clientId === undefined || isText(clientId) ? [] : [`${at}: clientId must be a text`]),
		...(isList(rules)
			? rules.flatMap((rule, number) => ruleFaults(`${at}, rule ${number + 1}`, rule))
			: [`${at}: rules must be a list of rules`]),
		...unknownFields(at, provider, ['issuer', 'audience', 'clientId', 'rules']),
	];
};

/** Sentences on the shape of the file. */
const shapeFaults = (content: unknown): string[] => {
	if (!isList(content)) {
		return ['must be a list of providers'];
	}

	const issuers = content.map((provider) => fieldsIn(provider)['issuer']);
	const twice = issuers.filter((issuer, index) => issuers.indexOf(issuer) !== index);
	return [...content.flatMap(providerFaults), ...twice.map((issuer) => `names ${String(issuer)} twice`)];
};

/** A value that names an owner, and a path that begins with a complete owner. */
const WHOLE = /[^*]$/;
const PATH = /^[^*/]+\//;

/** Issuers that many owners share: the claims that name one owner, with patterns of their values, and the claim to add. */
const SHARED: Array<{issuer: RegExp; owned: Readonly<Record<string, RegExp>>; claim: string}> = [
	{
		issuer: /^https:\/\/token\.actions\.githubusercontent\.com\/?$/,
		owned: {
			repository_owner_id: WHOLE,
			repository_owner: WHOLE,
			repository: PATH,
			repository_id: WHOLE,
			sub: /^repo:[^*/]+\//,
		},
		claim: 'repository_owner_id',
	},
	{
		issuer: /^https:\/\/gitlab\.com\/?$/,
		owned: {
			namespace_id: WHOLE,
			namespace_path: WHOLE,
			project_id: WHOLE,
			project_path: PATH,
			sub: /^project_path:[^*/]+\//,
		},
		claim: 'namespace_id',
	},
	{
		issuer: /^https:\/\/accounts\.google\.com\/?$/,
		owned: {hd: WHOLE, email: WHOLE, sub: WHOLE},
		claim: 'hd or email',
	},
];

const valuesOf = (wanted: string | string[]): string[] => [wanted].flat();

/** The fault of a rule that would admit every user of its issuer; null for others. */
const faultOf = ({issuer}: OperatorProvider, {claims}: OperatorRule): string | null => {
	const entries = Object.entries(claims);
	if (entries.every(([, wanted]) => valuesOf(wanted).includes('*'))) {
		return 'admits everybody: each of its claims may have any value';
	}

	const shared = SHARED.find((one) => one.issuer.test(issuer));
	// One value that every user has admits every user.
	const isOwned =
		shared === undefined ||
		Object.entries(shared.owned).some(
			([claim, form]) =>
				Object.hasOwn(claims, claim) && valuesOf(claims[claim] ?? []).every((value) => form.test(value)),
		);
	return isOwned ? null : `admits everybody: all users of ${issuer} share it. Add the claim ${shared.claim}`;
};

const isLocal = (issuer: string): boolean => /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/.test(issuer);

/**
 * The providers of a file, which is JSON.
 * @returns them, and a sentence per fault.
 */
export const readOperatorProviders = (
	file: string,
	isProduction: boolean,
): {providers: OperatorProvider[]; faults: string[]} => {
	let content: unknown;
	try {
		content = JSON.parse(readFileSync(file, 'utf8'));
	} catch (error) {
		return {providers: [], faults: [`could not be read: ${(error as Error).message}`]};
	}

	const shape = shapeFaults(content);
	if (shape.length > 0) {
		return {providers: [], faults: shape};
	}

	const providers = content as OperatorProvider[];
	const faults = providers.flatMap((provider) => [
		...(provider.issuer.startsWith('http:') && (isProduction || !isLocal(provider.issuer))
			? [`${provider.issuer} must begin with https://`]
			: []),
		...provider.rules.flatMap((rule, index) => {
			const fault = faultOf(provider, rule);
			return fault === null ? [] : [`rule ${index + 1} of ${provider.issuer} ${fault}`];
		}),
	]);
	return {providers, faults};
};
