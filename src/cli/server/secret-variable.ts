import {readSecrets} from '../../platform/config/secrets.ts';
import {OperatorError} from '../cli-errors.ts';
import {exitCodes} from '../exit-codes.ts';
import type {Io} from '../terminal/io.ts';

/** A credential of the environment, which a file may hold. @throws OperatorError if it is unusable. */
export const secretVariable = (
	env: Io['env'],
	name: 'ADMIN_TOKEN' | 'OPLINK_ADMIN_TOKEN' | 'OPLINK_API_KEY',
): string | undefined => {
	const {known, faults} = readSecrets(env, [name]);
	const [fault] = faults;
	if (fault !== undefined) {
		throw new OperatorError(fault, exitCodes.configuration, 'Correct the environment of this command');
	}

	return known.get(name)?.text;
};
