/** The nodes of PostgreSQL's syntax tree that script queries may use, with their fields. All other nodes are refused,
 *  including nodes added by later versions of the grammar. */

/** The permitted fields of a node type: fields with plain values, fields with other nodes, and fields with a node whose
 *  type the tree does not state. */
export interface NodeFields {
  readonly values?: string;
  readonly nodes?: string;
  readonly inline?: Readonly<Record<string, string>>;
}

/** Fields that contain only a node's position in the query text. */
export const positionFields: ReadonlySet<string> = new Set([
  'location',
  'list_start',
  'list_end',
  'rexpr_list_start',
  'rexpr_list_end',
]);

export const allowedNodes: Readonly<Record<string, NodeFields>> = {
  SelectStmt: {
    values: 'all op groupDistinct limitOption',
    nodes:
      'distinctClause targetList fromClause whereClause groupClause havingClause windowClause valuesLists sortClause limitOffset limitCount',
    inline: { withClause: 'WithClause', larg: 'SelectStmt', rarg: 'SelectStmt' },
  },
  WithClause: { values: 'recursive', nodes: 'ctes' },
  CommonTableExpr: { values: 'ctename ctematerialized', nodes: 'aliascolnames ctequery' },
  ResTarget: { values: 'name', nodes: 'val indirection' },
  List: { nodes: 'items' },

  RangeVar: { values: 'schemaname relname inh relpersistence', inline: { alias: 'Alias' } },
  RangeSubselect: { values: 'lateral', nodes: 'subquery', inline: { alias: 'Alias' } },
  RangeFunction: {
    values: 'lateral ordinality is_rowsfrom',
    nodes: 'functions coldeflist',
    inline: { alias: 'Alias' },
  },
  JoinExpr: {
    values: 'jointype isNatural rtindex',
    nodes: 'larg rarg usingClause quals',
    inline: { join_using_alias: 'Alias', alias: 'Alias' },
  },
  Alias: { values: 'aliasname', nodes: 'colnames' },
  ColumnDef: { values: 'colname is_local', inline: { typeName: 'TypeName' } },
  SortBy: { values: 'sortby_dir sortby_nulls', nodes: 'node' },
  GroupingSet: { values: 'kind', nodes: 'content' },
  WindowDef: {
    values: 'name refname frameOptions',
    nodes: 'partitionClause orderClause startOffset endOffset',
  },

  ColumnRef: { nodes: 'fields' },
  A_Star: {},
  A_Indirection: { nodes: 'arg indirection' },
  A_Indices: { values: 'is_slice', nodes: 'lidx uidx' },
  A_Const: {
    values: 'isnull',
    inline: {
      ival: 'Integer',
      fval: 'Float',
      boolval: 'Boolean',
      sval: 'String',
      bsval: 'BitString',
    },
  },
  Integer: { values: 'ival' },
  Float: { values: 'fval' },
  Boolean: { values: 'boolval' },
  String: { values: 'sval' },
  BitString: { values: 'bsval' },
  A_Expr: { values: 'kind', nodes: 'name lexpr rexpr' },
  BoolExpr: { values: 'boolop', nodes: 'args' },
  NullTest: { values: 'nulltesttype argisrow', nodes: 'arg' },
  BooleanTest: { values: 'booltesttype', nodes: 'arg' },
  CaseExpr: { nodes: 'arg args defresult' },
  CaseWhen: { nodes: 'expr result' },
  CoalesceExpr: { nodes: 'args' },
  MinMaxExpr: { values: 'op', nodes: 'args' },
  RowExpr: { values: 'row_format', nodes: 'args colnames' },
  A_ArrayExpr: { nodes: 'elements' },
  SubLink: { values: 'subLinkType subLinkId', nodes: 'testexpr operName subselect' },
  GroupingFunc: { nodes: 'args' },
  SQLValueFunction: { values: 'op typmod' },
  TypeCast: { nodes: 'arg', inline: { typeName: 'TypeName' } },
  TypeName: { values: 'typemod', nodes: 'names typmods arrayBounds' },
  CollateClause: { nodes: 'arg collname' },
  NamedArgExpr: { values: 'name argnumber', nodes: 'arg' },
  FuncCall: {
    values: 'agg_within_group agg_star agg_distinct func_variadic funcformat',
    nodes: 'funcname args agg_order agg_filter',
    inline: { over: 'WindowDef' },
  },
};

/** User-facing names of constructs that are not permitted. */
export const constructNames: Readonly<Record<string, string>> = {
  RangeTableFunc: 'XMLTABLE',
  XmlExpr: 'XML',
  XmlSerialize: 'XMLSERIALIZE',
  JsonTable: 'JSON_TABLE',
  JsonFuncExpr: 'JSON_VALUE, JSON_QUERY or JSON_EXISTS',
  JsonObjectConstructor: 'JSON_OBJECT with keys',
  JsonArrayConstructor: 'JSON_ARRAY',
  JsonArrayQueryConstructor: 'JSON_ARRAY',
  JsonObjectAgg: 'JSON_OBJECTAGG',
  JsonArrayAgg: 'JSON_ARRAYAGG',
  JsonParseExpr: 'JSON(…)',
  JsonScalarExpr: 'JSON_SCALAR',
  JsonSerializeExpr: 'JSON_SERIALIZE',
  JsonIsPredicate: 'IS JSON',
  RangeTableSample: 'TABLESAMPLE',
  ParamRef: 'a parameter such as $1',
  SetToDefault: 'DEFAULT',
  intoClause: 'INTO',
  lockingClause: 'a row lock such as FOR UPDATE',
  search_clause: 'SEARCH',
  cycle_clause: 'CYCLE',
  useOp: 'ORDER BY … USING',
  setof: 'SETOF',
  pct_type: '%TYPE',
};
