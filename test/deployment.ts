import test from 'ava';
import {internalRoutes} from '../src/links/domains/internal-routes.ts';
import {healthRoutes} from '../src/operations/health/routes.ts';
import {found, isThere, type Parsed, parseYaml, read, unread} from './_files.ts';

const [compose] = parseYaml(read('docker-compose.yml'));
const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');

test('each service of docker-compose.yml uses existing files and volumes', (t) => {
	const services: Record<string, Parsed> = compose.services;
	t.deepEqual(Object.keys(services), ['oplink', 'caddy', 'postgres', 'redis']);
	for (const [name, {volumes = [], networks = [], depends_on: needs = {}, image, build}] of Object.entries(services)) {
		t.truthy(image ?? build, name);
		for (const volume of volumes) {
			const [from = ''] = volume.split(':');
			t.true(from.startsWith('.') ? isThere(from) : from in compose.volumes, volume);
		}

		t.deepEqual(networks, ['oplink'], name);
		for (const [other, {condition}] of Object.entries(needs as Record<string, Parsed>)) {
			t.is(condition, 'service_healthy');
			// That of oplink is in its image.
			t.truthy(other === 'oplink' || services[other]?.healthcheck, other);
		}
	}
});

test('docker-compose.yml sets variables that the server reads, and Caddy uses those that it is given', (t) => {
	const {oplink, caddy} = compose.services;
	const names = Object.keys(oplink?.environment ?? {});
	t.true(names.includes('DATABASE_URL_FILE') && names.includes('TRUSTED_PROXIES'));
	t.deepEqual(unread(names), []);
	const used = found(read('docs/operating/Caddyfile'), /\{\$(\w+)/g);
	t.deepEqual(used.toSorted(), Object.keys(caddy?.environment ?? {}).toSorted());
	const {subnet} = compose.networks.oplink.ipam.config[0];
	t.is(oplink?.environment?.['TRUSTED_PROXIES'], subnet);
});

test('docker-compose.yml gives each secret to the services that read it, and its head makes the file', (t) => {
	const files: Record<string, {file: string}> = compose.secrets;
	const services: Parsed[] = Object.values(compose.services);
	const used = services.flatMap(({secrets = []}) => secrets);
	t.deepEqual(used.toSorted(), Object.keys(files).toSorted());
	for (const {secrets = [], environment = {}} of services) {
		const read = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'));
		t.deepEqual(
			read,
			secrets.map((name: string) => [`${name}_FILE`, `/run/secrets/${name}`]),
		);
	}

	for (const {file} of Object.values(files)) {
		t.true(
			read('docker-compose.yml').includes(`> ${file}\n`) &&
				read('docs/operating/production.md').includes(`> ${file}\n`),
		);
	}
});

test('Caddy asks a route that there is, and so does the health check of the image', (t) => {
	const ask = /ask http:\/\/oplink:3000(\S+)/.exec(read('docs/operating/Caddyfile'))?.[1];
	t.true(internalRoutes.some((route) => route.path === ask));
	const ready = /process\.env\.PORT \+ '([^']+)'/.exec(read('Dockerfile'))?.[1];
	t.true(healthRoutes.some((route) => route.path === ready));
});

test('nginx replaces each header of a caller that Oplink believes a proxy', (t) => {
	const set = found(read('docs/operating/nginx.conf'), /proxy_set_header (X-Forwarded-\w+) \$\w+;/g);
	const believed = found(read('src/platform/client-ip.ts'), /'(x-forwarded-\w+)'/g);
	t.deepEqual(new Set(set.map((name) => name.toLowerCase())), new Set(believed));
	t.is(new Set(believed).size, 3);
});

test('the image copies existing files, sets known variables, and does not run as root', (t) => {
	const included = read('.dockerignore')
		.split('\n')
		.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
	const copies = dockerfile.filter((line) => line.startsWith('COPY ') && !line.includes('--from'));
	t.true(copies.length > 3);
	for (const name of copies.flatMap((line) => line.split(/\s+/).slice(1, -1))) {
		t.true(included.includes(name) && isThere(name), name);
	}

	const set = found(dockerfile.find((line) => line.startsWith('ENV ')) ?? '', /(\w+)=/g);
	t.deepEqual(unread(set), []);
	const user = dockerfile.findLast((line) => line.startsWith('USER '));
	t.is(user, 'USER node');
	const engine = (JSON.parse(read('package.json')) as {engines: {node: string}}).engines.node;
	const [, version = ''] = dockerfile.map((line) => /^ARG NODE_VERSION=(\d+)/.exec(line)).find(Boolean) ?? [];
	t.true(Number(version) >= Number(/\d+/.exec(engine)?.[0]));
});

test('the systemd unit starts the program, and does not restart it after a configuration error', (t) => {
	const unit = read('docs/operating/oplink.service');
	t.regex(unit, /^ExecStart=\/usr\/bin\/node --max-semi-space-size=4 \/usr\/lib\/oplink\/bin\/oplink\.js serve$/m);
	for (const name of ['ADMIN_TOKEN', 'DATABASE_URL']) {
		t.true(unit.includes(`LoadCredential=${name}:/etc/oplink/credentials/${name}\n`));
	}

	t.regex(unit, /^RestartPreventExitStatus=78$/m);
	t.deepEqual(unread(found(/^Environment=(.*)$/m.exec(unit)?.[1] ?? '', /(\w+)=/g)), []);
});
