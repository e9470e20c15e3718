import Joi from 'joi';
import {route} from '../../accounts/auth/route.ts';
import {requireOrganization} from '../../accounts/organizations/require-organization.ts';
import type {Config} from '../../platform/config/config.ts';
import {unlessUnavailable} from '../../platform/connection-fault.ts';
import {answerOf, listOf, oneOf, partOf, text, textOrNull} from '../../platform/http/answer.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';
import {packageVersion} from '../../platform/package-root.ts';
import type {Services} from '../../services.ts';
import {type Finding, worstOf} from '../finding.ts';
import {checkListedHosts, checkLists, checkReports} from './abuse.ts';
import {checkClickStore, checkJournal} from './clicks.ts';
import {checkConfiguration} from './configuration.ts';
import {checkDatabase} from './database.ts';
import {checkDisk} from './disk.ts';
import {type LinkHosts, linkHostAnswer, listLinkHosts} from './hosts.ts';
import {checkIdentityProvider} from './identity-provider.ts';
import {checkPaymob} from './paymob.ts';
import {checkRedis} from './redis.ts';
import {
	checkAssociationRoom,
	checkCountries,
	checkGuesses,
	checkKeptKeys,
	checkRefusals,
	checkRereadFiles,
	checkRetention,
	checkWebhooks,
} from './service-state.ts';
import {checkStripe} from './stripe.ts';

const modeOf = ({databaseUrl}: Config) => (databaseUrl === null ? ('embedded' as const) : ('external' as const));

/** Checks the server and its dependencies; the caller checks from outside. */
const examine = async (services: Services) => {
	const {clicks, clickJournal, config, db, limiter, clock} = services;
	// CLOCK_OFFSET shifts the service, not the machine.
	const now = () => new Date(clock.now().getTime() - config.clockOffsetSeconds * 1000);
	// `checkDatabase` reports that it is unavailable.
	const fromDatabase = (findings: Promise<Finding[]>) => unlessUnavailable(findings, []);
	const areas = await Promise.all([
		checkConfiguration(config),
		checkDatabase(db, {mode: modeOf(config), now}),
		fromDatabase(checkKeptKeys(services)),
		fromDatabase(checkGuesses(services)),
		fromDatabase(checkRefusals(services)),
		checkRedis(config.redisUrl === null ? null : () => limiter.ping()),
		checkClickStore(clicks.ping),
		checkJournal(clickJournal.figures()),
		checkDisk(config.dataDir),
		checkCountries(services.countries.built(), now()),
		checkRereadFiles(services),
		checkLists(services),
		fromDatabase(checkReports(services)),
		fromDatabase(checkListedHosts(services)),
		checkIdentityProvider(config),
		checkStripe(config),
		checkPaymob(config),
		fromDatabase(checkAssociationRoom(services)),
		fromDatabase(checkWebhooks(services)),
		fromDatabase(checkRetention(services)),
	]);
	return areas.flat();
};

const query = Joi.object<{org?: string[]}>({org: sizeFirst.array().items(Joi.string().max(64)).single().max(100)});

const verdict = oneOf('ok', 'warn', 'fail');

/** The server's own findings, for `oplink doctor`. */
const doctorAnswer = answerOf('Diagnosis', {
	status: verdict,
	version: text,
	publicUrl: text,
	findings: listOf(partOf({area: text, check: text, status: verdict, message: text, next: textOrNull})),
	hosts: listOf(linkHostAnswer),
});

export const doctorRoutes = [
	/** Findings, the address of the API, and the link hosts with the expected contents of their association files: of all, or of `?org=` only. */
	route('GET', '/admin/doctor', {
		summary: 'Check the server and its dependencies',
		answer: doctorAnswer,
		credential: 'admin',
		query,
		handler: async ({services, query: {org}}) => {
			const named = org && (await Promise.all(org.map((reference) => requireOrganization(services, reference))));
			const [examined, {hosts, findings: ofHosts}] = await Promise.all([
				examine(services),
				unlessUnavailable<LinkHosts>(listLinkHosts(services, named?.map(({id}) => id) ?? null), {
					hosts: [],
					findings: [],
				}),
			]);
			const findings = [...examined, ...ofHosts];
			const {publicUrl} = services.addresses;
			return {status: worstOf(findings), version: packageVersion(), publicUrl, findings, hosts};
		},
	}),
];
