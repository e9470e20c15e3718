import {route} from '../../accounts/auth/route.ts';
import {findOwnDomain, type HostDeps} from '../../links/domains/locate.ts';
import {DAY_MS} from '../../platform/clock.ts';
import {linkBases} from '../../platform/config/config.ts';
import {limits} from '../../platform/config/limits.ts';
import {unknownPath} from '../../platform/errors.ts';
import {isLoopbackName} from '../../platform/http/request-host.ts';
import {type RequestFacts, reply} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {translations} from '../page/translations.ts';

/** RFC 9116 recommends less than a year. */
const VALID_DAYS = 180;

const HEADERS = {'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=3600'};

/** `/.well-known/security.txt` of a host (RFC 9116). */
const securityText = ({contact, bases, now}: {contact: string; bases: string[]; now: Date}): string => {
	const midnight = now.getTime() - (now.getTime() % DAY_MS);
	return `${[
		`Contact: ${contact}`,
		`Expires: ${new Date(midnight + VALID_DAYS * DAY_MS).toISOString()}`,
		`Preferred-Languages: ${Object.keys(translations).join(', ')}`,
		...bases.map((base) => `Canonical: ${base}/.well-known/security.txt`),
	].join('\n')}\n`;
};

/** The URLs of a host, without path; none for a foreign one. An alias answers as LINK_DOMAIN. */
const basesOf = async (
	services: HostDeps & Pick<Services, 'addresses'>,
	{hostname, headers}: RequestFacts,
): Promise<string[]> => {
	const {addresses, hostRoles} = services;
	const role = hostRoles.roleOf(hostname);
	if (hostname === null || role === 'other') {
		return (await findOwnDomain(services, hostname)) === null ? [] : [`https://${hostname}`];
	}

	if (role === 'api') {
		return [addresses.publicUrl];
	}

	// A name of this machine is asked by itself, and is in no setting.
	return isLoopbackName(hostname) ? [`${addresses.linkScheme}://${headers.host ?? hostname}`] : linkBases(addresses);
};

export const securityTextRoutes = [
	route('GET', '/.well-known/security.txt', {
		summary: 'Tell where to report abuse (RFC 9116)',
		answer: {media: ['text/plain'], about: 'Contact, expiry, languages and address. Without ABUSE_CONTACT: 404.'},
		refusals: [404],
		credential: 'none',
		limit: limits.resolution,
		handler: async ({services, request}) => {
			const {config, clock} = services;
			const bases = await basesOf(services, request);
			if (config.abuseContact === null || bases.length === 0) {
				throw unknownPath();
			}

			return reply({headers: HEADERS, body: securityText({contact: config.abuseContact, bases, now: clock.now()})});
		},
	}),
];
