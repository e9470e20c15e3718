import {route} from '../../accounts/auth/route.ts';
import {findOwnDomain, type HostDeps} from '../../links/domains/locate.ts';
import type {AppRequest} from '../../platform/app-requests/app-request.ts';
import {limits} from '../../platform/config/limits.ts';
import {associationFileNotFound, required, unknownLinkDomain} from '../../platform/errors.ts';
import {type RequestFacts, reply} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {androidFileAnswer, appleFileAnswer} from '../visit/visit-answers.ts';
import type {AssociationFiles} from './association-cache.ts';

type Deps = HostDeps & Pick<Services, 'appRequests' | 'associationCache'>;

const headers = {'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=3600'};

/** The files of a host, and their organization. @throws 404 unless it is the shared link domain or a custom domain that is served. */
const filesOf = async (
	services: Deps,
	hostname: string | null,
): Promise<{files: AssociationFiles; organization: AppRequest['organization']}> => {
	const {associationCache, hostRoles} = services;
	const role = hostRoles.roleOf(hostname);
	if (role === 'link' || role === 'both') {
		return {files: await associationCache.shared(), organization: null};
	}

	const {organizationId: id} = required(await findOwnDomain(services, hostname), unknownLinkDomain);
	return {files: await associationCache.of(id), organization: {id}};
};

const platforms = {apple: 'ios', android: 'android'} as const;

/** Our own checks fetch the files, too, and say so. */
const isOwnCheck = (userAgent = ''): boolean => userAgent.startsWith('oplink');

const answerWith = async (services: Deps, {hostname, headers: sent}: RequestFacts, system: keyof AssociationFiles) => {
	const {files, organization} = await filesOf(services, hostname);
	const body = required(files[system], associationFileNotFound);
	if (!isOwnCheck(sent['user-agent'])) {
		services.appRequests.note({organization, counts: [['fetched']], platform: platforms[system]});
	}

	return reply({headers, body});
};

export const associationRoutes = [
	route('GET', '/.well-known/apple-app-site-association', {
		summary: 'The association file of iOS',
		answer: appleFileAnswer,
		credential: 'none',
		onLinkDomain: true,
		limit: limits.resolution,
		handler: ({services, request}) => answerWith(services, request, 'apple'),
	}),

	route('GET', '/.well-known/assetlinks.json', {
		summary: 'The association file of Android',
		answer: androidFileAnswer,
		credential: 'none',
		onLinkDomain: true,
		limit: limits.resolution,
		handler: ({services, request}) => answerWith(services, request, 'android'),
	}),
];
