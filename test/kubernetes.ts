import {Ajv} from 'ajv';
import test from 'ava';
import {healthRoutes} from '../src/operations/health/routes.ts';
import {configTable} from '../src/platform/config/variables.ts';
import {found, parseYaml, read, unread} from './_files.ts';

type Named = {name: string; value?: string};

const objects = parseYaml(read('docs/operating/kubernetes.yml'));
const [service, budget, pods] = objects;
const {template, ...set} = pods.spec;
const pod = template.spec;
const [container] = pod.containers;
const [compose] = parseYaml(read('docker-compose.yml'));
const {oplink} = compose.services;

// A line a type of Kubernetes 1.30, all that the three kinds have, made from the npm package kubernetes-types 1.30.0.
const ajv = new Ajv({strictTypes: false});
for (const line of read('test/fixtures/kubernetes-1.30.ndjson').trim().split('\n')) {
	ajv.addSchema(JSON.parse(line));
}

const faultsOf = (object: {kind: string}): unknown => (ajv.validate(object.kind, object) ? null : ajv.errors);

test('each object fits its type of Kubernetes', (t) => {
	const kinds = objects.map(({kind}) => kind);
	t.deepEqual(kinds, ['Service', 'PodDisruptionBudget', 'StatefulSet']);
	for (const object of objects) {
		t.is(faultsOf(object), null);
	}
});

for (const [what, from, to] of [
	['a misspelt field', 'volumeMounts:', 'volumeMount:'],
	['a missing field', '  serviceName: oplink\n', ''],
	['a text where a number belongs', 'periodSeconds: 10', 'periodSeconds: ten'],
	['a field in a wrong place', '      containers:', '      replicas: 2\n      containers:'],
] as const) {
	test(`${what} does not fit`, (t) => {
		const text = read('docs/operating/kubernetes.yml');
		t.true(text.includes(from));
		const broken = parseYaml(text.replace(from, to)).filter((object) => faultsOf(object) !== null);
		t.like(broken, {length: 1, 0: {kind: 'StatefulSet'}});
	});
}

test('names, ports and routes that one object takes from another exist', (t) => {
	const {labels} = template.metadata;
	for (const selected of [service.spec.selector, budget.spec.selector.matchLabels, set.selector.matchLabels]) {
		t.deepEqual(selected, labels);
	}

	t.is(set.serviceName, service.metadata.name);
	const ports = container.ports.map(({name}: Named) => name);
	for (const {httpGet} of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
		t.true(ports.includes(httpGet.port));
		t.true(healthRoutes.some((route) => route.path === httpGet.path));
	}

	t.true(service.spec.ports.every(({targetPort}: {targetPort: string}) => ports.includes(targetPort)));
	t.regex(read('Dockerfile'), new RegExp(`PORT=${container.ports[0]?.containerPort}\\b`));
	const given = found(read('docs/operating/kubernetes.yml'), /--from-literal=(\w+)=/g);
	const names = [...given, ...container.env.map(({name}: Named) => name)];
	t.deepEqual(unread(names), []);
	const files = container.env.filter(({name}: Named) => name.endsWith('_FILE'));
	const mount = container.volumeMounts.find(({name}: Named) => name === 'secrets');
	t.deepEqual(
		files.map(({value}: Named) => value),
		given.map((name) => `${mount.mountPath}/${name}`),
	);
	const missing = Object.keys(oplink.environment).filter((name) => !names.includes(name));
	t.deepEqual(missing, []);
});

test('what docker-compose.yml keeps, kubernetes.yml keeps', (t) => {
	const mounts: Array<{mountPath: string; name: string; readOnly?: boolean}> = container.volumeMounts;
	const volumes = new Map(mounts.map(({mountPath, name}) => [mountPath, name]));
	const kept = oplink.volumes.map((volume: string) => volume.split(':')[1]);
	const written = mounts.flatMap(({readOnly, mountPath}) => (readOnly ? [] : [mountPath]));
	t.deepEqual(written.toSorted(), [...kept, ...oplink.tmpfs]);
	// A disk for each journal, which outlives its pod.
	t.like(set.volumeClaimTemplates, {length: 1, 0: {metadata: {name: volumes.get('/data')}}});
	t.deepEqual(set.persistentVolumeClaimRetentionPolicy, {whenDeleted: 'Retain', whenScaled: 'Retain'});
	const empty = pod.volumes.filter(({emptyDir}: {emptyDir?: object}) => emptyDir !== undefined);
	t.like(empty, {length: 1, 0: {name: volumes.get('/tmp')}});
	t.is(set.podManagementPolicy, 'OrderedReady');
	t.deepEqual(container.securityContext, {
		allowPrivilegeEscalation: !oplink.security_opt.includes('no-new-privileges:true'),
		readOnlyRootFilesystem: oplink.read_only,
		capabilities: {drop: oplink.cap_drop},
	});
	// The image's own user in Compose.
	t.true(pod.securityContext.runAsNonRoot);
});

test('each stop is given longer than the requests under way, and what comes before', (t) => {
	const usual = Number(configTable.find(({name}) => name === 'SHUTDOWN_TIMEOUT')?.fallback);
	t.true(Number.parseInt(oplink.stop_grace_period, 10) > usual);
	const own = Number(container.env.find(({name}: Named) => name === 'SHUTDOWN_TIMEOUT')?.value);
	const before = Number(container.lifecycle.preStop.exec.command.at(-1));
	t.true(before > 0 && pod.terminationGracePeriodSeconds > before + own);
});
