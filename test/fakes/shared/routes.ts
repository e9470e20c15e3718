import type {Call} from './faults.ts';

/** The values of a pattern's `:names` in a path, or null where they differ. */
export const matchPath = (pattern: string, path: string): Record<string, string> | null => {
	const source = pattern.replaceAll('.', '\\.').replace(/:(\w+)/g, '(?<$1>[^/]+)');
	const found = new RegExp(`^${source}$`).exec(path);
	const values = Object.entries(found?.groups ?? {});
	return found && Object.fromEntries(values.map(([name, value]) => [name, decodeURIComponent(value)]));
};

/** The handler of a call in a table by `METHOD /path/:name`, or null. */
export const findRoute = <Handler>(routes: Record<string, Handler>, call: Pick<Call, 'method' | 'path'>) => {
	for (const [route, handle] of Object.entries(routes)) {
		const [method, pattern = ''] = route.split(' ');
		const params = method === call.method ? matchPath(pattern, call.path) : null;
		if (params !== null) {
			return {handle, params};
		}
	}

	return null;
};
