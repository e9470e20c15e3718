import {readFileSync} from 'node:fs';
import {access} from 'node:fs/promises';
import {createRequire} from 'node:module';
import path from 'node:path';
import test from 'ava';
import {internalRoutes} from '../src/links/domains/internal-routes.ts';
import {healthRoutes} from '../src/operations/health/routes.ts';
import {configTable} from '../src/platform/config/variables.ts';
import {packageRoot} from '../src/platform/package-root.ts';

const read = (name: string): string => readFileSync(path.join(packageRoot, name), 'utf8');

const {load} = createRequire(import.meta.url)('js-yaml') as {load(text: string): unknown};

type ComposeService = {
	image?: string;
	build?: string;
	environment?: Record<string, string>;
	volumes?: string[];
	networks?: string[];
	depends_on?: Record<string, {condition: string}>;
	healthcheck?: object;
};
type Compose = {services: Record<string, ComposeService>; networks: object; volumes: object};

const compose = load(read('docker-compose.yml')) as Compose;
const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');
const known = new Set(configTable.map(({name}) => name));

test('each service of docker-compose.yml uses existing files and volumes', async (t) => {
	const {services} = compose;
	t.deepEqual(Object.keys(services), ['oplink', 'caddy', 'postgres', 'redis']);
	for (const [name, {volumes = [], networks = [], depends_on: needs = {}, image, build}] of Object.entries(services)) {
		t.truthy(image ?? build, name);
		for (const volume of volumes) {
			const [from = ''] = volume.split(':');
			if (from.startsWith('.')) {
				await t.notThrowsAsync(access(path.join(packageRoot, from)), volume);
			} else {
				t.true(from in compose.volumes, volume);
			}
		}

		t.deepEqual(networks, ['oplink'], name);
		for (const [other, {condition}] of Object.entries(needs)) {
			t.is(condition, 'service_healthy');
			// That of oplink is in its image.
			t.truthy(other === 'oplink' || services[other]?.healthcheck, other);
		}
	}
});

test('docker-compose.yml sets variables that the server reads, and Caddy uses those that it is given', (t) => {
	const {oplink, caddy} = compose.services;
	const names = Object.keys(oplink?.environment ?? {});
	t.true(names.includes('DATABASE_URL') && names.includes('TRUSTED_PROXIES'));
	t.deepEqual(
		names.filter((name) => !known.has(name)),
		[],
	);
	const used = [...read('docs/operating/Caddyfile').matchAll(/\{\$(\w+)/g)].map(([, name]) => name);
	t.deepEqual(used.toSorted(), Object.keys(caddy?.environment ?? {}).toSorted());
	const subnet = (compose.networks as {oplink: {ipam: {config: Array<{subnet: string}>}}}).oplink.ipam.config[0]
		?.subnet;
	t.is(oplink?.environment?.['TRUSTED_PROXIES'], subnet);
});

test('Caddy asks a route that there is, and so does the health check of the image', (t) => {
	const ask = /ask http:\/\/oplink:3000(\S+)/.exec(read('docs/operating/Caddyfile'))?.[1];
	t.true(internalRoutes.some((route) => route.path === ask));
	const ready = /process\.env\.PORT \+ '([^']+)'/.exec(read('Dockerfile'))?.[1];
	t.true(healthRoutes.some((route) => route.path === ready));
});

test('nginx replaces each header of a caller that Oplink believes a proxy', (t) => {
	const set = [...read('docs/operating/nginx.conf').matchAll(/proxy_set_header (X-Forwarded-\w+) \$\w+;/g)];
	const believed = [...read('src/platform/http/client-ip.ts').matchAll(/'(x-forwarded-\w+)'/g)].map(([, name]) => name);
	t.deepEqual(new Set(set.map(([, name]) => name?.toLowerCase())), new Set(believed));
	t.is(new Set(believed).size, 3);
});

test('the image copies existing files, sets known variables, and does not run as root', async (t) => {
	const included = read('.dockerignore')
		.split('\n')
		.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
	const copies = dockerfile.filter((line) => line.startsWith('COPY ') && !line.includes('--from'));
	t.true(copies.length > 3);
	for (const name of copies.flatMap((line) => line.split(/\s+/).slice(1, -1))) {
		t.true(included.includes(name), name);
		await t.notThrowsAsync(access(path.join(packageRoot, name)), name);
	}

	const set = [...(dockerfile.find((line) => line.startsWith('ENV ')) ?? '').matchAll(/(\w+)=/g)].map(
		([, name]) => name,
	);
	t.deepEqual(
		set.filter((name) => !known.has(name ?? '')),
		[],
	);
	t.is(
		dockerfile.findLast((line) => line.startsWith('USER ')),
		'USER node',
	);
	const engine = (JSON.parse(read('package.json')) as {engines: {node: string}}).engines.node;
	const [, version = ''] = dockerfile.map((line) => /^ARG NODE_VERSION=(\d+)/.exec(line)).find(Boolean) ?? [];
	t.true(Number(version) >= Number(/\d+/.exec(engine)?.[0]));
});

test('the systemd unit starts the program, and does not restart it after a configuration error', (t) => {
	const unit = read('docs/operating/oplink.service');
	t.regex(unit, /^ExecStart=\/usr\/bin\/node --max-semi-space-size=4 \/opt\/oplink\/bin\/oplink\.js serve$/m);
	t.regex(unit, /^RestartPreventExitStatus=78$/m);
	const set = [...(/^Environment=(.*)$/m.exec(unit)?.[1]?.matchAll(/(\w+)=/g) ?? [])].map(([, name]) => name);
	t.deepEqual(
		set.filter((name) => !known.has(name ?? '')),
		[],
	);
});
