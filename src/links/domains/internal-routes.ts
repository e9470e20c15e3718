import Joi from 'joi';
import {route} from '../../accounts/auth/route.ts';
import {requireInternal} from '../../accounts/tokens/require-internal.ts';
import {domainNotFound} from '../../platform/errors.ts';
import {count, instantOrNull, partOf, text} from '../../platform/http/answer.ts';
import type {RequestFacts} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {certificateAnswer, normalHostname} from './domain.ts';
import {findServedDomain, type ServedDomainDeps} from './locate.ts';

/**
 * Requested by proxies with on-demand certificates before they obtain one.
 * @throws 404 for a domain that is not served.
 */
const allowCertificate = async (
	services: ServedDomainDeps & Pick<Services, 'addresses' | 'adminToken' | 'clientIp'>,
	request: RequestFacts,
	domain: unknown,
) => {
	requireInternal(services, request);
	const hostname = typeof domain === 'string' ? normalHostname(domain) : null;
	if (hostname !== null && services.addresses.aliases.includes(hostname)) {
		return {domain: hostname};
	}

	const served = hostname === null ? null : await findServedDomain(services, hostname);
	if (served?.organizationStatus !== 'ACTIVE') {
		throw domainNotFound();
	}

	return {domain: hostname};
};

const aliasesAnswer = partOf({
	data: Joi.array().items(partOf({hostname: text, visits: count, lastVisitAt: instantOrNull})),
});

export const internalRoutes = [
	route('GET', '/admin/domains/aliases', {
		summary: 'List the aliases of the shared link domain, with their visits of 30 days',
		description: 'Visits of links and their data, without those of crawlers. No bound token reads it.',
		answer: aliasesAnswer,
		credential: 'admin',
		handler: ({services: {addresses, aliasVisits, clock}}) => aliasVisits.list(addresses.aliases, clock.now()),
	}),

	route('GET', '/internal/tls/ask', {
		summary: 'Check whether a proxy may get a certificate for a domain',
		description: 'Answers only a loopback peer or a trusted proxy, whose request is not forwarded, or the admin token.',
		answer: certificateAnswer,
		credential: 'none',
		// Any value: a caller from outside must get a 404 for each.
		query: Joi.object<{domain?: unknown}>({domain: Joi.any()}),
		handler: async ({services, request, query}) => allowCertificate(services, request, query.domain),
	}),
];
