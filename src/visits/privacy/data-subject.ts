/** The subject of a request: a device of an organization, or the user that its app reports (`/sdk/identity`). */
export type DataSubject = {kind: 'device'; deviceId: string} | {kind: 'user'; externalUserId: string};

/** The subject as named in an answer. */
export const subjectJson = (subject: DataSubject): {deviceId: string} | {externalUserId: string} =>
	subject.kind === 'device' ? {deviceId: subject.deviceId} : {externalUserId: subject.externalUserId};
