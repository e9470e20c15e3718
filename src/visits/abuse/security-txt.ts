import {route} from '../../accounts/auth/route.ts';
import {findOwnDomain} from '../../links/domains/locate.ts';
import {DAY_MS} from '../../platform/clock.ts';
import {limits} from '../../platform/config/limits.ts';
import {unknownPath} from '../../platform/errors.ts';
import {reply} from '../../platform/http/route.ts';
import {pageStrings} from '../page/page-strings.ts';

/** RFC 9116 recommends less than a year. */
const VALID_DAYS = 180;

const HEADERS = {'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=3600'};

/** `/.well-known/security.txt` of a host (RFC 9116). */
const securityText = ({contact, url, now}: {contact: string; url: string; now: Date}): string => {
	const midnight = now.getTime() - (now.getTime() % DAY_MS);
	return `${[
		`Contact: ${contact}`,
		`Expires: ${new Date(midnight + VALID_DAYS * DAY_MS).toISOString()}`,
		`Preferred-Languages: ${Object.keys(pageStrings).join(', ')}`,
		`Canonical: ${url}`,
	].join('\n')}\n`;
};

export const securityTextRoutes = [
	route({
		method: 'GET',
		path: '/.well-known/security.txt',
		summary: 'Tell where to report abuse (RFC 9116)',
		answer: {media: ['text/plain'], about: 'Contact, expiry, languages and address. Without ABUSE_CONTACT: 404.'},
		refusals: [404],
		credential: 'none',
		limit: limits.resolution,
		handler: async ({services, request: {hostname, path, headers}}) => {
			const {config, hostRoles, addresses, clock} = services;
			const isOurs = hostRoles.roleOf(hostname) !== 'other' || (await findOwnDomain(services, hostname)) !== null;
			if (config.abuseContact === null || hostname === null || !isOurs) {
				throw unknownPath();
			}

			const isApi = hostRoles.roleOf(hostname) === 'api';
			const base = isApi ? addresses.publicUrl : `${addresses.linkScheme}://${headers.host ?? hostname}`;
			const body = securityText({contact: config.abuseContact, url: `${base}${path}`, now: clock.now()});
			return reply({headers: HEADERS, body});
		},
	}),
];
