import {randomAlphanumeric} from '../../platform/text.ts';

/**
 * First path segments of other surfaces (contract/hosts 3). No resolution path begins with one, so an unknown path
 * below them is 404 and not a link.
 */
export const reservedSegments: ReadonlySet<string> = new Set([
	'links',
	'sdk',
	'match',
	'portal',
	'admin',
	'webhooks',
	'webhook',
	'dev',
	'health',
	'metrics',
	'openapi.json',
	'docs',
	'internal',
	'.well-known',
	'sign-in',
	'report',
]);

/** The form of an orgKey: exactly 4 alphanumeric characters, case-sensitive. */
export const ORG_KEY = /^[A-Za-z0-9]{4}$/;

/** A new orgKey, never a reserved segment. */
export const generateOrgKey = (): string => {
	for (;;) {
		const orgKey = randomAlphanumeric(4);
		if (!reservedSegments.has(orgKey)) {
			return orgKey;
		}
	}
};
