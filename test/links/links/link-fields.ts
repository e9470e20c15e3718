import test from 'ava';
import {linkColumns} from '../../../src/links/links/link-fields.ts';
import {run, sql} from '../../../src/platform/db/sql.ts';
import {LinkPolicy} from '../../../src/platform/policy/link-policy.ts';
import {readLink} from '../../../src/visits/visit/link-rows.ts';
import {goneReason, isLiveSql, type ResolvedRow} from '../../../src/visits/visit/resolved-row.ts';
import {filesNaming} from '../../_house.ts';
import {link, organization} from '../../helpers/builders.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

/** The PostgreSQL type of each kind of value. */
const types: Record<string, string> = {
	code: 'text',
	count: 'integer',
	flag: 'boolean',
	group: 'text',
	id: 'uuid',
	instant: 'timestamp with time zone',
	params: 'jsonb',
	platforms: 'jsonb',
	text: 'text',
	texts: 'ARRAY',
	url: 'text',
};

/** Columns that are no link field, by table. */
const others = {
	links: ['created_at', 'decision', 'id', 'organization_id', 'updated_at'],
	templates: ['client_create', 'created_at', 'id', 'name', 'organization_id', 'updated_at'],
	app_configs: [
		...['android', 'browser_paths', 'clipboard_format', 'created_at', 'error_pages', 'ios', 'logo_url'],
		...['minimum_confidence', 'organization_id', 'probabilistic_matching', 'shared_at', 'updated_at'],
	],
};
const tables = Object.keys(others) as Array<keyof typeof others>;

const columnsOfTable = async (table: string) => {
	const {rows} = await service.services.db.raw<{rows: Array<{name: string; type: string; isNullable: boolean}>}>(
		`SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS "isNullable"
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ? ORDER BY 1`,
		[table],
	);
	return rows;
};

test('links, templates and app configurations have the columns of their fields and no others', async (t) => {
	for (const table of tables) {
		const fields = linkColumns.filter(({field: {levels}}) => levels.includes(table));
		const expected = fields.map(({column, field: {kind, required}}) => ({
			name: column,
			type: types[kind],
			isNullable: required !== true,
		}));
		t.true(expected.length > 5);
		const columns = await columnsOfTable(table);
		const found = columns.filter(({name}) => !others[table].includes(name));
		t.deepEqual(found, expected.toSorted((one, other) => (one.name < other.name ? -1 : 1)) as never);
		const seen = columns.map(({name}) => name).filter((name) => others[table].includes(name));
		t.deepEqual(seen, others[table]);
	}
});

test('the change feed gets every change of a column that visits read', async (t) => {
	const {rows} = await service.services.db.raw<{rows: Array<{table: string; name: string; columns: string[]}>}>(
		`SELECT pg_trigger.tgrelid::regclass::text AS table, tgname AS name, array(
			SELECT attname::text FROM pg_attribute WHERE attrelid = tgrelid AND attnum = ANY (tgattr) ORDER BY attname
		) AS columns
		FROM pg_trigger WHERE tgname IN ('links_updated', 'templates_updated', 'app_configs_changed') ORDER BY 1`,
	);
	// Browser paths and the place in the association file change no link.
	const unheard = ['browser_paths', 'created_at', 'organization_id', 'shared_at', 'updated_at'];
	const heard = (await columnsOfTable('app_configs')).map(({name}) => name).filter((name) => !unheard.includes(name));
	t.deepEqual(rows, [
		{table: 'app_configs', name: 'app_configs_changed', columns: heard},
		// None listed: every change is heard.
		{table: 'links', name: 'links_updated', columns: []},
		{table: 'templates', name: 'templates_updated', columns: []},
	]);
	for (const {column} of linkColumns.filter(({field}) => field.levels.includes('app_configs'))) {
		t.true(heard.includes(column), column);
	}
});

test('the resolved row has the columns that visits need, and no other field of a link', async (t) => {
	const acme = await organization(service);
	const {shortCode} = await link(acme, {externalId: 'x', tags: ['a']});
	const row = await readLink(service.services, {orgKey: acme.orgKey, shortCode});
	const names = linkColumns.filter(({field}) => field.resolves).map(({column}) => column);
	for (const {column} of linkColumns) {
		t.is(row !== null && Object.hasOwn(row, column), names.includes(column), column);
	}

	t.deepEqual([row?.deferred_deep_linking, row?.match_window_hours, row?.utm_term], [true, 168, null]);
	const unresolved = linkColumns.filter(({field}) => !field.resolves).map(({name}) => name);
	t.deepEqual(unresolved, ['tags', 'domainId', 'templateId', 'externalId']);
});

test('PostgreSQL and the process agree on which links are live', async (t) => {
	const now = new Date('2026-03-10T12:00:00.000Z');
	const rows = await run<ResolvedRow & {live: boolean}>(
		service.services.db,
		sql`SELECT organizations.status AS organization_status, links.*, ${isLiveSql(now)} AS live
		FROM unnest(ARRAY['ACTIVE', 'SUSPENDED']) AS organizations(status), (
			SELECT is_active, ${now}::timestamptz + ms * interval '1 ms' AS expiry, decision
			FROM unnest(ARRAY[true, false]) AS is_active, unnest(ARRAY[NULL, -1, 0, 1]) AS ms,
				unnest(CAST(ARRAY[NULL, '{"state": "allow"}', '{"state": "block"}'] AS jsonb[])) AS decision
		) AS links`,
	);
	t.is(rows.length, 48);
	for (const {live, ...row} of rows) {
		t.is(live, goneReason(row, now, LinkPolicy.none()) === null, JSON.stringify(row));
	}
});

test('a field of a link is named in few files of src', (t) => {
	t.deepEqual(filesNaming('utmTerm'), [
		// A column of that service's export.
		'cli/import/formats/firebase.ts',
		'client/link-shapes.ts',
		'links/links/link-fields.ts',
		// Reports count by it, and clicks keep it.
		'visits/clicks/dimensions.ts',
		'visits/visit/click-context.ts',
	]);
	t.true(filesNaming('minimumVersion').length <= 8, filesNaming('minimumVersion').join(' '));
});
