import {route} from '../../accounts/auth/route.ts';
import {onlyRow} from '../../platform/db/db.ts';
import {migrationStatus} from '../../platform/db/migrate.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {packageVersion} from '../../platform/package-root.ts';
import type {Services} from '../../services.ts';
import {checkReadiness, statusAnswer} from './routes.ts';

/** The operator's overview: version, health of the parts, and totals. */
const readStatus = async (
	services: Pick<Services, 'addresses' | 'clickJournal' | 'clicks' | 'clock' | 'config' | 'db' | 'limiter' | 'log'>,
) => {
	const {db, config, addresses, clock} = services;
	const now = clock.now();
	const [{ready, checks}, migrations, counts] = await Promise.all([
		checkReadiness(services),
		migrationStatus(db),
		run<{version: string; organizations: number; links: number; clicks: number}>(
			db,
			sql`SELECT current_setting('server_version') AS version,
				(SELECT CAST(count(*) AS float8) FROM organizations) AS organizations,
				(SELECT CAST(coalesce(sum(links), 0) AS float8) FROM link_counts) AS links,
				(SELECT CAST(coalesce(sum(clicks), 0) AS float8) FROM click_counts WHERE month = ${`${now.toISOString().slice(0, 7)}-01`}) AS clicks`,
		),
	]);
	const {version, organizations, links, clicks} = onlyRow(counts);
	const {waitingBytes, lost, refused} = services.clickJournal.figures();
	return {
		status: ready ? 'ok' : 'unavailable',
		version: packageVersion(),
		node: process.version,
		now,
		uptimeSeconds: Math.floor(process.uptime()),
		publicUrl: addresses.publicUrl,
		linkDomain: addresses.linkDomain,
		checks,
		database: {mode: config.databaseUrl === null ? 'embedded' : 'external', version},
		migrations: {
			applied: migrations.filter(({appliedAt}) => appliedAt !== null).length,
			pending: migrations.flatMap(({name, appliedAt}) => (appliedAt === null ? [name] : [])),
		},
		counts: {organizations, links, clicksThisMonth: clicks},
		clicks: {waitingBytes, lost, refused},
	};
};

export const statusRoutes = [
	route('GET', '/admin/status', {
		summary: 'Get version, health and totals',
		answer: statusAnswer,
		credential: 'admin',
		handler: ({services}) => readStatus(services),
	}),
];
