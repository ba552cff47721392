/** The wire format of a run error (contract §3, "Run"). */
import { errorSources, maxFrames, relations } from '#domain/run/error/error.ts';
import Type from 'typebox';

const Frame = Type.Object(
  {
    file: Type.String({
      description:
        "Path of the file. Paths of the script's own code are relative to the script's root folder.",
    }),
    line: Type.Integer({ minimum: 0 }),
    function: Type.String(),
    code: Type.String({
      description: 'The source line. Empty if the traceback does not contain the line.',
    }),
    own: Type.Boolean({
      description: "Whether the frame is in the script's own code rather than in a library.",
    }),
  },
  { title: 'ErrorFrame', additionalProperties: false },
);

const raised = {
  type: Type.String({
    description:
      'Qualified name of the exception without `builtins.`, or the `failure_reason` for a limit or a ' +
      'platform failure.',
  }),
  message: Type.String({ description: 'At most 4 KiB.' }),
  frames: Type.Array(Frame, {
    maxItems: maxFrames,
    description:
      'Outermost first. If there are more than 50 frames, only the first 25 and the last 25 are kept.',
  }),
};

export const RunError = Type.Object(
  {
    ...raised,
    causes: Type.Array(
      Type.Object(
        {
          ...raised,
          relation: Type.Enum(relations, {
            title: 'ErrorRelation',
            description:
              '`cause`: the previous exception was raised from this one (`raise … from`). `context`: the ' +
              'previous exception was raised while this one was handled. `member`: part of an ' +
              'exception group.',
          }),
          depth: Type.Optional(
            Type.Integer({
              minimum: 1,
              description:
                'Nesting depth: 1 for the causes of the error and the members of its exception group, 2 for their ' +
                'causes and members, and so on. Absent in errors recorded before version 0.1.13.',
            }),
          ),
          omitted: Type.Optional(
            Type.Integer({
              minimum: 1,
              description:
                'The number of exceptions that were omitted directly before this one. Absent if there are none.',
            }),
          ),
        },
        { title: 'ErrorCause', additionalProperties: false },
      ),
      {
        description:
          'Chained exceptions, nearest first. Each exception is followed by its own chain; `depth` gives the tree. ' +
          'If there are more than 10, the list contains the nearest ones, and the last one with those that it caused.',
      },
    ),
    source: Type.Enum(errorSources, {
      title: 'ErrorSource',
      description:
        'Source of the error: the interpreter, the traceback in the log, or the platform.',
    }),
  },
  { title: 'RunError', additionalProperties: false },
);
