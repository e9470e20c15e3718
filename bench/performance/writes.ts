import {figure} from './figure.ts';
import {startInserts} from './inserts.ts';
import type {Installation} from './installation.ts';
import {ADDRESSES, addressOf, post} from './requests.ts';
import type {SeededOrganization} from './seed.ts';
import type {Measure, Stage} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

type Sample = {rate: number; cpu: number};

type Compared = {
	installation: Installation;
	table: 'events' | 'links';
	path: string;
	body: object;
	key: 'clientKey' | 'serverKey';
	status: number;
	connections: number;
	insert: {connections: number; sql: string; values: string[]};
};

const keyOf = (organizations: SeededOrganization[], n: number, key: 'clientKey' | 'serverKey'): string =>
	organizations[n % organizations.length]?.[key] ?? '';

/** Requests that write, with the keys of all organizations in turn, against INSERTs of such rows. */
const compare = async ({rounds, seconds, postmaster}: Stage, given: Compared) => {
	const {installation, table, path, body, key, status: expected, connections, insert} = given;
	const {client, organizations} = installation;
	const count = async (): Promise<number> => {
		const {rows} = await client.query(`SELECT count(*) AS count FROM ${table}`);
		return Number(rows[0].count);
	};
	const before = await count();
	const server = await installation.start();
	const inserts = await startInserts(installation, postmaster, insert);
	let [inserted, asked] = [0, 0];
	const statuses = new Map<number, number>();
	const samples = await inTurns<Sample>(rounds, {
		inserts: async () => {
			const sample = await inserts.run(seconds);
			inserted += sample.inserted;
			return sample;
		},
		requests: () =>
			installation.measure([server], {
				connections,
				seconds,
				request: (url) => () => {
					asked += 1;
					const authorization = `Authorization: Bearer ${keyOf(organizations, asked, key)}\r\n`;
					return post(url, path, addressOf(asked % ADDRESSES), body, authorization);
				},
				onAnswer: (_n, status) => statuses.set(status, (statuses.get(status) ?? 0) + 1),
			}),
	});
	const stored = (await count()) - before - inserted;
	await inserts.stop();
	await installation.close();
	const answered = statuses.get(expected) ?? 0;
	return {
		rates: (name: string) => samples(name).map(({rate}) => rate),
		cpu: (name: string) => samples(name).map((sample) => sample.cpu),
		notes: ['requests', 'inserts'].map(
			(name) =>
				`${name}: ${Math.round(median(samples(name).map(({rate}) => rate)))}/s, ` +
				`${median(samples(name).map(({cpu}) => cpu)).toFixed(0)} µs of CPU each`,
		),
		failures: [
			...(stored === answered ? [] : [`${answered} were answered with ${expected}, ${stored} are stored`]),
			...(statuses.size === 1 && answered > 0 ? [] : [`answers by status: ${JSON.stringify([...statuses])}`]),
		],
	};
};

/** `/sdk/events` against INSERTs of such rows on 20 connections; both are on the disk before they are answered. */
export const events: Measure = {
	name: 'events',
	measure: async (stage) => {
		// An organization may send 600 events a minute, so that it takes many.
		const installation = await stage.installation({organizations: 2000, links: 1});
		const properties = {amount: 12, currency: 'EUR'};
		const {rates, cpu, notes, failures} = await compare(stage, {
			installation,
			table: 'events',
			path: '/sdk/events',
			body: {deviceId: 'device-0001', eventName: 'purchase', properties},
			key: 'clientKey',
			status: 200,
			connections: 64,
			insert: {
				connections: 20,
				sql: `INSERT INTO events (id, organization_id, device_id, event_name, properties, occurred_at, received_at)
					VALUES (gen_random_uuid(), $1, $2, $3, $4, now(), now())`,
				values: [installation.organization.id, 'device-0001', 'purchase', JSON.stringify(properties)],
			},
		});
		return [
			figure({
				name: '/sdk/events ÷ single-row INSERTs on 20 connections, requests/s',
				...ratioOf(rates('requests'), rates('inserts')),
				bar: {atLeast: 1},
				notes,
				failures,
			}),
			figure({name: '/sdk/events ÷ single-row INSERTs, by CPU', ...ratioOf(cpu('inserts'), cpu('requests'))}),
		];
	},
};

/** What `POST /links` takes of the processor, PostgreSQL's share included, against one INSERT of such a row. */
export const createLink: Measure = {
	name: 'create-link',
	measure: async (stage) => {
		// A key may write 100 links a second.
		const installation = await stage.installation({organizations: 200, links: 1});
		const {cpu, notes, failures} = await compare(stage, {
			installation,
			table: 'links',
			path: '/links',
			body: {path: '/product/42', title: 'Red shoes'},
			key: 'serverKey',
			status: 201,
			connections: 8,
			insert: {
				connections: 8,
				sql: `INSERT INTO links (id, organization_id, domain_id, short_code, path, title, is_active, created_at, updated_at)
					SELECT gen_random_uuid(), $1, domains.id, CAST(gen_random_uuid() AS text), $2, $3, true, now(), now()
					FROM domains WHERE domains.organization_id IS NULL`,
				values: [installation.organization.id, '/product/42', 'Red shoes'],
			},
		});
		return [
			figure({
				name: 'POST /links ÷ one durable single-row INSERT, CPU',
				...ratioOf(cpu('requests'), cpu('inserts')),
				bar: {atMost: 3},
				notes,
				failures,
			}),
		];
	},
};
