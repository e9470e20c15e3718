import type {OpenApiDocument} from './document.ts';
import type {Operation} from './operation.ts';
import {sampleOf} from './sample.ts';

/** `orgId` as `ORG_ID`: a placeholder that a shell leaves as it is. */
const placeholder = (name: string): string => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|-/g, '_').toUpperCase();

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const bodyOf = ({requestBody}: Operation): string[] => {
	const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
	if (type === undefined || content === undefined) {
		return [];
	}

	const data = content.example === undefined ? '--data-binary @FILE' : `-d ${quoted(JSON.stringify(content.example))}`;
	return [`-H ${quoted(`Content-Type: ${type}`)}`, data];
};

/** The request as a command for a shell, with what it requires; null where the sender must sign it. */
export const curlOf = (
	method: string,
	path: string,
	operation: Operation,
	{servers: [server], components}: OpenApiDocument,
): string | null => {
	const [scheme] = operation.security.flatMap((one) => Object.keys(one));
	const isBearer = scheme !== undefined && 'scheme' in (components.securitySchemes[scheme] ?? {});
	if (scheme !== undefined && !isBearer) {
		return null;
	}

	const query = (operation.parameters ?? [])
		.filter((one) => one.in === 'query' && one.required)
		.map(({name, schema}) => `${name}=${encodeURIComponent(String(sampleOf(schema, components.schemas, {name})))}`);
	const base = operation.servers?.[0]?.url ?? server?.url ?? '';
	const url = `${base}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => placeholder(name))}${query.length > 0 ? `?${query.join('&')}` : ''}`;
	return [
		`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${quoted(url)}`,
		...(scheme === undefined ? [] : [`-H ${quoted(`Authorization: Bearer ${placeholder(scheme)}`)}`]),
		...bodyOf(operation),
	].join(' \\\n  ');
};
