import type {TestService} from '../../helpers/service.ts';

type Statement = {name?: string};
type Connection = {query(statement: Statement, ...rest: unknown[]): Promise<unknown>};

/** What the result of a statement waits for, by its name. */
export type Hold = (name: string) => Promise<unknown> | undefined;

/** The prepared statements that a service runs from now on. */
export const watchStatements = (
	{services}: TestService,
	hold: Hold = () => undefined,
): {count(name: string): number} => {
	const names: string[] = [];
	const watched = new WeakSet<Connection>();
	const client = services.db.client as {acquireConnection(): Promise<Connection>};
	const acquire = client.acquireConnection;
	client.acquireConnection = async () => {
		const connection = await acquire.call(client);
		if (!watched.has(connection)) {
			watched.add(connection);
			const {query} = connection;
			connection.query = async (statement, ...rest) => {
				const {name = ''} = statement;
				names.push(name);
				const result = await query.call(connection, statement, ...rest);
				await hold(name);
				return result;
			};
		}

		return connection;
	};
	return {count: (name) => names.filter((one) => one === name).length};
};

/** A promise that a test fulfils. */
export const createGate = (): {opened: Promise<void>; open(): void} => {
	let open = (): void => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return {opened, open: () => open()};
};
