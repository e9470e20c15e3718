import path from 'node:path';
import {build, type Plugin} from 'esbuild';
import type {OpenApiDocument} from '../../../src/operations/openapi/document.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';

/** The generator writes with TypeScript's JavaScript API, which TypeScript 7 does not have: it gets the one of ts-morph. */
const withTypeScriptApi: Plugin = {
	name: 'typescript-api',
	setup: ({onResolve, onLoad}) => {
		onResolve({filter: /^typescript$/}, () => ({path: 'typescript', namespace: 'api'}));
		onLoad({filter: /./, namespace: 'api'}, () => ({
			contents: "export {ts as default} from '@ts-morph/common'",
			resolveDir: packageRoot,
		}));
	},
};

type Generator = {generate(document: object): Promise<string>};

/** The generator as one module in `folder`. */
const bundled = async (folder: string): Promise<Generator> => {
	const outfile = path.join(folder, 'openapi-typescript.cjs');
	await build({
		stdin: {
			contents: `
				import openapiTS, {astToString} from 'openapi-typescript';
				export const generate = async (document) => astToString(await openapiTS(document, {silent: true}));`,
			resolveDir: packageRoot,
		},
		bundle: true,
		platform: 'node',
		format: 'cjs',
		define: {'import.meta.url': '"file:///"'},
		logLevel: 'silent',
		outfile,
		plugins: [withTypeScriptApi],
	});
	return import(outfile);
};

/** The types of a client of the API, as `openapi-typescript` writes them. */
export const clientTypes = async (document: OpenApiDocument, folder: string): Promise<string> => {
	const {generate} = await bundled(folder);
	return generate(JSON.parse(JSON.stringify(document)));
};
