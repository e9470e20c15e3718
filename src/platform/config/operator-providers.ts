import {readFileSync} from 'node:fs';
import Joi from 'joi';
import {allScopes, presetNames} from './operator-scopes.ts';

/** A rule: claims that all have to match, and what whoever has them may do. */
export type OperatorRule = {
	/** By the claim's name or its path with dots; `*` at the end of a text stands for any rest. */
	claims: Record<string, string | string[]>;
	scopes: string[];
	/** The only organization, by its id or orgKey. */
	org?: string;
};

/** An OpenID Connect provider whose tokens are accepted from operators (contract/operators 4). */
export type OperatorProvider = {
	issuer: string;
	audience: string;
	/** Of the client by which people sign in with `oplink login --oidc`. */
	clientId?: string;
	rules: OperatorRule[];
};

const text = Joi.string().min(1).max(1000);

const fileSchema = Joi.array()
	.items(
		Joi.object<OperatorProvider>({
			issuer: Joi.string()
				.uri({scheme: ['https', 'http']})
				.required(),
			audience: text.required(),
			clientId: text,
			rules: Joi.array()
				.items(
					Joi.object({
						claims: Joi.object()
							.pattern(text, Joi.alternatives(text, Joi.array().items(text).min(1)))
							.min(1)
							.required(),
						scopes: Joi.array()
							.items(Joi.valid(...allScopes, ...presetNames))
							.min(1)
							.required(),
						org: text,
					}),
				)
				.min(1)
				.required(),
		}),
	)
	.min(1)
	.unique('issuer')
	.required();

/** Claims of which the issuers that everybody shares let one owner alone be named. */
const SHARED: Array<{issuer: RegExp; owned: readonly string[]; subject: RegExp; what: string}> = [
	{
		issuer: /^https:\/\/token\.actions\.githubusercontent\.com\/?$/,
		owned: ['repository_owner_id', 'repository_owner', 'repository', 'repository_id'],
		subject: /^repo:[^*/]+\//,
		what: 'repository_owner_id',
	},
	{
		issuer: /^https:\/\/gitlab\.com\/?$/,
		owned: ['namespace_id', 'namespace_path', 'project_id', 'project_path'],
		subject: /^project_path:[^*/]+\//,
		what: 'namespace_id',
	},
	{
		issuer: /^https:\/\/accounts\.google\.com\/?$/,
		owned: ['hd', 'email', 'sub'],
		subject: /./,
		what: 'hd or email',
	},
];

const valuesOf = (wanted: string | string[]): string[] => [wanted].flat();

/** Whether the values leave nothing to everybody: none is a bare `*`, and of a path the owner is whole. */
const namesOwner = (claim: string, wanted: string | string[]): boolean =>
	valuesOf(wanted).every((value) =>
		/^(?:repository|project_path)$/.test(claim) ? /^[^*/]+\//.test(value) : !value.endsWith('*'),
	);

/** A sentence for a rule that would admit everybody; null for others. */
const faultOf = ({issuer}: OperatorProvider, {claims}: OperatorRule): string | null => {
	const entries = Object.entries(claims);
	if (entries.every(([, wanted]) => valuesOf(wanted).includes('*'))) {
		return 'admits everybody: each of its claims may have any value';
	}

	const shared = SHARED.find((one) => one.issuer.test(issuer));
	const isOwned =
		shared === undefined ||
		entries.some(([claim, wanted]) => shared.owned.includes(claim) && namesOwner(claim, wanted)) ||
		valuesOf(claims['sub'] ?? []).some((value) => value !== '*' && shared.subject.test(value));
	return isOwned ? null : `admits everybody: all users of ${issuer} share it. Add the claim ${shared.what}`;
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

	const {value, error} = fileSchema.validate(content, {abortEarly: false, convert: false});
	if (error !== undefined) {
		return {providers: [], faults: error.details.map(({message}) => message)};
	}

	const providers = value as OperatorProvider[];
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
