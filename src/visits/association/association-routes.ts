import {route} from '../../accounts/auth/route.ts';
import {findOwnDomain, type HostDeps} from '../../links/domains/locate.ts';
import {limits} from '../../platform/config/limits.ts';
import {associationFileNotFound, unknownLinkDomain} from '../../platform/errors.ts';
import {reply} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {androidFileAnswer, appleFileAnswer} from '../visit/visit-answers.ts';
import type {AssociationFiles} from './association-cache.ts';

type Deps = HostDeps & Pick<Services, 'associationCache'>;

const headers = {'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=3600'};

/** The files of a host. @throws 404 unless it is the shared link domain or a custom domain that is served. */
const filesOf = async (services: Deps, hostname: string | null): Promise<AssociationFiles> => {
	const {associationCache, hostRoles} = services;
	const role = hostRoles.roleOf(hostname);
	if (role === 'link' || role === 'both') {
		return associationCache.shared();
	}

	const domain = await findOwnDomain(services, hostname);
	if (domain === null) {
		throw unknownLinkDomain();
	}

	return associationCache.of(domain.organizationId);
};

const answerWith = async (services: Deps, hostname: string | null, system: keyof AssociationFiles) => {
	const body = (await filesOf(services, hostname))[system];
	if (body === null) {
		throw associationFileNotFound();
	}

	return reply({headers, body});
};

export const associationRoutes = [
	route({
		method: 'GET',
		path: '/.well-known/apple-app-site-association',
		summary: 'The association file of iOS',
		answer: appleFileAnswer,
		credential: 'none',
		onLinkDomain: true,
		limit: limits.resolution,
		handler: ({services, request}) => answerWith(services, request.hostname, 'apple'),
	}),

	route({
		method: 'GET',
		path: '/.well-known/assetlinks.json',
		summary: 'The association file of Android',
		answer: androidFileAnswer,
		credential: 'none',
		onLinkDomain: true,
		limit: limits.resolution,
		handler: ({services, request}) => answerWith(services, request.hostname, 'android'),
	}),
];
