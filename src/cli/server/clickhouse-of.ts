import type {ClickHouse} from '../../clicks/clickhouse/clickhouse.ts';
import {inputError} from '../cli-errors.ts';
import type {Io} from '../terminal/io.ts';

/** The ClickHouse of CLICKS_URL. @throws OperatorError if it is not set. */
export const clickHouseOf = async ({env}: Pick<Io, 'env'>): Promise<ClickHouse> => {
	const [{readVariables}, {variables}, {clickHouseUrlFault, readClickHouseUrl}, {createClickHouse}] = await Promise.all(
		[
			import('../../config/variable.ts'),
			import('../../config/variables.ts'),
			import('../../clicks/clickhouse/clickhouse-url.ts'),
			import('../../clicks/clickhouse/clickhouse.ts'),
		],
	);
	const {clicksUrl} = readVariables(variables, env, []);
	if (clicksUrl === null || clickHouseUrlFault(clicksUrl) !== null) {
		throw inputError('CLICKS_URL must be set to the address of the ClickHouse that has the raw clicks');
	}

	return createClickHouse(readClickHouseUrl(clicksUrl));
};
