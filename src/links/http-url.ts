import type Joi from 'joi';
import {type FieldFault, validationFailed} from '../platform/errors.ts';
import {sizeFirst} from '../platform/http/size-first.ts';
import type {BodyContext} from '../platform/http/validate.ts';
import {safeHttpUrl} from '../platform/safe-http-url.ts';

const MAX_URL = 2048;
const NO_LOOP = 'must not be on the link domain';

/** The refusal of an address. */
export const destinationListed = (list: string): string => `The destination is on the list ${list}`;

/**
 * An http or https URL of at most 2048 characters in normal form (contract/links 10: never the raw input), and not on
 * the link domain, which would be a loop.
 */
export const httpUrl = () =>
	sizeFirst
		.string()
		.max(MAX_URL)
		.meta({
			schema: {
				format: 'uri',
				pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\\\]+(?:[/?#].*)?$',
				description: 'An http or https URL of a public host, without a user, and not on the link domain.',
			},
		})
		.custom((value: string, helpers) => {
			const url = safeHttpUrl(value, {linkHosts: []});
			if (url === null) {
				return helpers.message({custom: '{{#label}} must be an http or https URL of a public host'});
			}

			// Percent-encoded, which is how it is stored, exported and checked when shown.
			if (url.length > MAX_URL) {
				return helpers.message({
					custom: `{{#label}} must be shorter than or equal to ${MAX_URL} characters, percent-encoded`,
				});
			}

			const {linkHosts, linkPolicy} = helpers.prefs.context as BodyContext;
			if (safeHttpUrl(value, {linkHosts}) === null) {
				return helpers.message({custom: `{{#label}} ${NO_LOOP}`});
			}

			return refusedByPolicy(linkPolicy, url, helpers) ?? url;
		});

/** The refusal of an address that a list blocks; null for any other. */
export const refusedByPolicy = (
	linkPolicy: BodyContext['linkPolicy'],
	url: string,
	helpers: Joi.CustomHelpers,
): ReturnType<Joi.CustomHelpers['message']> | null => {
	const verdict = linkPolicy?.of(url) ?? null;
	// The sentence is a value, because joi reads braces in a message.
	return verdict?.state === 'block'
		? helpers.message({custom: '{{#refusal}}'}, {refusal: destinationListed(verdict.list)})
		: null;
};

/** The URLs on the link's custom domain, which only the database knows. */
export const loopFaults = (hostname: string, urls: Readonly<Record<string, string | null>>): FieldFault[] =>
	Object.entries(urls)
		.filter(([, url]) => url !== null && safeHttpUrl(url, {linkHosts: [hostname]}) === null)
		.map(([field]) => ({field, message: `${field} ${NO_LOOP}`}));

/** Refuses the same. @throws 400. */
export const requireNoLoop = (...named: Parameters<typeof loopFaults>): void => {
	const faults = loopFaults(...named);
	if (faults.length > 0) {
		throw validationFailed(faults);
	}
};
