import Joi from 'joi';
import type {Config} from '../config/config.ts';
import {isConnectionFault} from '../db/db.ts';
import {route} from '../http/route.ts';
import {sized} from '../http/sized.ts';
import {requireOrganization} from '../organizations/require-organization.ts';
import {packageVersion} from '../package-root.ts';
import type {Services} from '../services.ts';
import {checkAssociationRoom} from './association-room.ts';
import {checkConfiguration} from './configuration.ts';
import {checkDatabase} from './database.ts';
import {checkDisk} from './disk.ts';
import {doctorAnswer} from './doctor-answer.ts';
import {type Finding, findingsOf, worstOf} from './finding.ts';
import {checkGatewayA} from './gateway-a.ts';
import {checkGatewayB} from './gateway-b.ts';
import {type LinkHost, listLinkHosts, MOST_CUSTOM_HOSTS} from './hosts.ts';
import {checkIdentityProvider} from './identity-provider.ts';
import {checkKeptKeys} from './kept-keys.ts';
import {checkRedis} from './redis.ts';

const modeOf = ({databaseUrl}: Config) => (databaseUrl === null ? ('embedded' as const) : ('external' as const));

/** Says where a report has as many custom domains as one can have. */
const checkNumber = (hosts: readonly LinkHost[]): Finding[] =>
	hosts.length > MOST_CUSTOM_HOSTS
		? [
				findingsOf('Domains').warn(
					'domains.number',
					`${MOST_CUSTOM_HOSTS} custom domains are examined, in the order of their names`,
					'Name organizations: oplink doctor Ab12',
				),
			]
		: [];

/** What the server itself can tell of its health; what is seen from outside only is the caller's to examine. */
const examine = async (services: Services) => {
	const {config, db, limiter, stripe, clock} = services;
	// CLOCK_OFFSET moves the service, not the machine.
	const now = () => new Date(clock.now().getTime() - config.clockOffsetSeconds * 1000);
	const areas = await Promise.all([
		checkConfiguration(config),
		checkDatabase(db, {mode: modeOf(config), now}),
		checkKeptKeys(services),
		checkRedis(config.redisUrl === null ? null : () => limiter.ping()),
		checkDisk(config.dataDir),
		checkIdentityProvider(config),
		checkGatewayA(stripe, config),
		checkGatewayB(config),
		checkAssociationRoom(services),
	]);
	return areas.flat();
};

const query = Joi.object<{org?: string[]}>({org: sized.array().items(Joi.string().max(64)).single().max(100)});

export const doctorRoutes = [
	/** Findings, and the hosts of links, with what their association files should say: of all, or of `?org=` alone. */
	route({
		method: 'GET',
		path: '/admin/doctor',
		summary: 'Examine what the server stands on',
		answer: doctorAnswer,
		credential: 'admin',
		query,
		handler: async ({services, query: {org}}) => {
			const named = org && (await Promise.all(org.map((reference) => requireOrganization(services, reference))));
			const [findings, hosts] = await Promise.all([
				examine(services),
				// A database that is away is a finding, and must not hide the others.
				listLinkHosts(services, named?.map(({id}) => id) ?? null).catch((error: unknown): LinkHost[] => {
					if (isConnectionFault(error)) {
						return [];
					}

					throw error;
				}),
			]);
			const all = [...findings, ...checkNumber(hosts)];
			return {status: worstOf(all), version: packageVersion(), findings: all, hosts};
		},
	}),
];
