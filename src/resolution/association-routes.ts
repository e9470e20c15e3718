import {androidAppsOf, iosAppsOf, listAndroidApps, listIosApps} from '../app-config/app-config-store.ts';
import {findVerifiedDomain} from '../domains/domain-store.ts';
import {associationFileNotFound, unknownLinkDomain} from '../errors.ts';
import {reply, route} from '../http/route.ts';
import type {Services} from '../services.ts';
import {appleAppSiteAssociation, assetLinks} from './association-files.ts';
import {androidFileAnswer, appleFileAnswer} from './resolution-answers.ts';

/** Apple reads no more of the file than this; past it every link of the host breaks (facts on providers 6.1). */
const APPLE_LIMIT_BYTES = 131_072;

const headers = {'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=3600'};

/** The organization that a custom domain describes, or null for the shared link domain. @throws 404 for another host. */
const scopeOf = async (
	{hostRoles, db}: Services,
	hostname: string | null,
): Promise<{organizationId: string} | null> => {
	const role = hostRoles.roleOf(hostname);
	if (role === 'link' || role === 'both') {
		return null;
	}

	const domain = role === 'api' || hostname === null ? null : await findVerifiedDomain(db, hostname);
	if (domain === null) {
		throw unknownLinkDomain();
	}

	return domain;
};

const appleFile = async (services: Services, hostname: string | null) => {
	const scope = await scopeOf(services, hostname);
	const apps = await (scope === null ? listIosApps(services.db) : iosAppsOf(services.db, scope.organizationId));
	if (apps.length === 0) {
		throw associationFileNotFound();
	}

	const body = JSON.stringify(appleAppSiteAssociation(apps, {customDomain: scope !== null}));
	const bytes = Buffer.byteLength(body);
	if (bytes > APPLE_LIMIT_BYTES * 0.8) {
		services.log.warn(
			{bytes, limit: APPLE_LIMIT_BYTES, apps: apps.length},
			'apple-app-site-association is near its limit',
		);
	}

	return reply({headers, body});
};

const androidFile = async (services: Services, hostname: string | null) => {
	const scope = await scopeOf(services, hostname);
	const apps = await (scope === null ? listAndroidApps(services.db) : androidAppsOf(services.db, scope.organizationId));
	const statements = assetLinks(apps);
	if (statements.length === 0) {
		throw associationFileNotFound();
	}

	return reply({headers, body: JSON.stringify(statements)});
};

export const associationRoutes = [
	route({
		method: 'GET',
		path: '/.well-known/apple-app-site-association',
		summary: 'The association file of iOS',
		answer: appleFileAnswer,
		credential: 'none',
		host: 'link',
		handler: ({services, request}) => appleFile(services, request.hostname),
	}),

	route({
		method: 'GET',
		path: '/.well-known/assetlinks.json',
		summary: 'The association file of Android',
		answer: androidFileAnswer,
		credential: 'none',
		host: 'link',
		handler: ({services, request}) => androidFile(services, request.hostname),
	}),
];
