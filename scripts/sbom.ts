import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {promisify} from 'node:util';
import {nameOf, readPackages} from './locked-packages.ts';

type Component = {name: string; 'bom-ref': string; scope: string; properties: object[]};
type Bom = {
	serialNumber: string;
	metadata: {timestamp: string; component: Component; tools: Array<{vendor: string; name: string}>};
	components: Component[];
	dependencies: Array<{ref: string; dependsOn: string[]}>;
};

/** A development dependency whose code is in the page of the API. */
const BUILT_IN = 'swagger-ui-dist';

/**
 * Every package of the server in CycloneDX. With `--omit=dev` npm would omit each package that one for development needs
 * as well; and it writes a number, a time, the folder's name and its own version, which differ by machine.
 */
export const createSbom = async (root: string, seconds: number): Promise<string> => {
	const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
	const {stdout} = await promisify(execFile)('npm', ['sbom', ...options], {cwd: root, maxBuffer: 64 * 2 ** 20});
	const bom: Bom = JSON.parse(stdout);
	const {component, tools} = bom.metadata;
	const packages = await readPackages(root);
	const shipped = new Set([
		component['bom-ref'],
		...Object.entries(packages).map(([folder, {version}]) => `${nameOf(folder)}@${version}`),
		...bom.components.flatMap(({name, 'bom-ref': ref}) => (name === BUILT_IN ? [ref] : [])),
	]);
	component.name = component['bom-ref'].replace(/@.*/, '');
	bom.metadata.timestamp = new Date(seconds * 1000).toISOString();
	bom.metadata.tools = tools.map(({vendor, name}) => ({vendor, name}));
	bom.components = bom.components
		.filter(({'bom-ref': ref}) => shipped.has(ref))
		.map((one) => (one.name === BUILT_IN ? {...one, scope: 'required', properties: []} : one));
	bom.dependencies = bom.dependencies
		.filter(({ref}) => shipped.has(ref))
		.map(({ref, dependsOn}) => ({ref, dependsOn: dependsOn.filter((needed) => shipped.has(needed))}));
	bom.serialNumber = '';
	const hash = createHash('sha256').update(JSON.stringify(bom)).digest('hex');
	// A UUID of version 8: its bits are ours.
	bom.serialNumber = `urn:uuid:${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
	return `${JSON.stringify(bom, null, 2)}\n`;
};
