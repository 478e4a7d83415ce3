//! Constant folding of values and of shapes. An `If` whose condition is constant is replaced by its branch.
//!
//! A detector computes anchors, and the sizes that it resizes and reshapes to, in hundreds of nodes. burn-onnx does not
//! take all of them, such as `Shape` of a number.

mod dims;
mod elements;
mod expression;
mod inputs;
mod known;
mod operators;
mod slice;
mod symbols;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use onnx_ir::{GraphProto, NodeProto};

use super::nodes;
use crate::read::node::{NodeAttributes, graphs, graphs_mut, is, used};
use crate::read::tensor::{Data, MAXIMUM_ELEMENTS, Tensor, count, sizes_of};
use inputs::Inputs;
pub(super) use known::{Known, Scope};

/// The most elements of an initializer that is folded. Weights are larger, and no shape depends on them.
const MAXIMUM_INITIALIZER: usize = 1 << 16;

/// Folds the graph of a model. Returns what is known of its values.
pub(super) fn fold(graph: &mut GraphProto) -> Scope {
    let mut folding = Folding {
        scope: Scope::new(),
        computed: HashSet::new(),
        budget: 16 * MAXIMUM_ELEMENTS,
        copies: 0,
    };
    let initializers: HashSet<_> = graph.initializer.iter().map(|tensor| tensor.name.clone()).collect();
    for input in graph.input.iter().filter(|input| !initializers.contains(&input.name)) {
        folding.scope.insert(input.name.clone(), Known::of_type(input));
    }
    folding.graph(graph, false);
    folding.scope
}

struct Folding {
    scope: Scope,
    /// The values that were computed here and that no node of the folded graph produces yet.
    computed: HashSet<String>,
    /// How many elements may still be computed. A malformed model can request any number.
    budget: usize,
    /// How many constants were copied into bodies.
    copies: usize,
}

impl Folding {
    /// Folds a graph or, with `is_body`, the body of an operator.
    fn graph(&mut self, graph: &mut GraphProto, is_body: bool) {
        for initializer in &graph.initializer {
            let sizes = sizes_of(&initializer.dims);
            let small = sizes
                .as_deref()
                .and_then(count)
                .is_some_and(|elements| elements <= MAXIMUM_INITIALIZER);
            let known = match sizes {
                Some(sizes) if !small => Known::of_dims(sizes.into_iter().map(Some).collect()),
                _ => Known::of_initializer(initializer),
            };
            self.scope.insert(initializer.name.clone(), known);
        }
        // A stack with the first node on top, so that an inlined branch replaces its `If`.
        let mut pending: Vec<_> = std::mem::take(&mut graph.node).into_iter().rev().collect();
        while let Some(mut node) = pending.pop() {
            if let Some(branch) = self.taken(&node) {
                inline(branch, &node.output, graph, &mut pending, &mut self.scope);
                continue;
            }
            for body in graphs_mut(&mut node) {
                self.graph(body, true);
            }
            if !self.node(&node, is_body) {
                self.add_size_nodes(graph, &node, is_body);
                graph.node.push(node);
            }
        }
        self.add_output_nodes(graph);
        if is_body {
            self.copy_constants_into(graph);
        } else {
            self.add_initializers(graph);
        }
    }

    /// The branch that an `If` with a constant condition takes.
    fn taken(&self, node: &NodeProto) -> Option<GraphProto> {
        is(node, "If").then_some(())?;
        let Data::Bool(condition) = &self.scope.get(node.input.first()?)?.value.as_ref()?.data else {
            return None;
        };
        let name = if *condition.first()? {
            "then_branch"
        } else {
            "else_branch"
        };
        let branch = node.graph(name)?;
        (branch.output.len() == node.output.len()).then(|| branch.clone())
    }

    /// Records what is known of a node's outputs. Returns whether the node is dropped: its outputs are constants or,
    /// outside of bodies, computed from sizes.
    fn node(&mut self, node: &NodeProto, is_body: bool) -> bool {
        if !node.domain.is_empty() {
            return false;
        }
        let known = node
            .input
            .iter()
            .map(|name| self.scope.get(name).cloned().unwrap_or_default());
        let inputs = Inputs {
            node,
            known: known.collect(),
        };
        let mut outputs = match node.op_type.as_str() {
            "If" => self.agreed(node),
            _ => operators::outputs(&inputs),
        };
        let elements: usize = outputs
            .iter()
            .filter_map(|known| Some(known.value.as_ref()?.data.len()))
            .sum();
        let within = elements <= self.budget;
        self.budget -= if within { elements } else { 0 };
        let computed = |known: &Known| (known.value.is_some() && within) || (known.symbols.is_some() && !is_body);
        let all = !outputs.is_empty() && outputs.iter().all(computed);
        for (name, known) in node.output.iter().zip(&mut outputs) {
            if !within {
                known.value = None;
            }
            if all {
                self.computed.insert(name.clone());
            } else {
                (known.value, known.symbols) = (None, None);
            }
            self.scope.insert(name.clone(), std::mem::take(known));
        }
        all
    }

    /// The sizes of the outputs of an `If` in which both branches agree.
    fn agreed(&self, node: &NodeProto) -> Vec<Known> {
        let dims = |branch: &str, at: usize| {
            let output = node.graph(branch)?.output.get(at)?;
            self.scope.get(&output.name)?.dims.clone()
        };
        let both = |at: usize| {
            let (first, second) = (dims("then_branch", at)?, dims("else_branch", at)?);
            let same = first
                .iter()
                .zip(&second)
                .map(|(first, second)| first.filter(|_| first == second));
            (first.len() == second.len()).then(|| same.collect())
        };
        let known = |at| both(at).map_or_else(Known::default, Known::of_dims);
        (0..node.output.len()).map(known).collect()
    }

    /// Adds a producer for each output of the graph that was computed here. burn-onnx wants a node, so a constant is a
    /// `Constant`.
    fn add_output_nodes(&mut self, graph: &mut GraphProto) {
        let produced: HashSet<_> = graph.node.iter().flat_map(|node| node.output.clone()).collect();
        for at in 0..graph.output.len() {
            let name = graph.output[at].name.clone();
            self.add_size_node(graph, &name);
        }
        for output in &graph.output {
            if let Some(value) = self.constant(&output.name).filter(|_| !produced.contains(&output.name)) {
                graph.node.push(nodes::constant(&output.name, &value));
                self.computed.remove(&output.name);
            }
        }
    }

    /// Before a node, adds the nodes that compute from sizes what the node and its bodies read. burn-onnx takes no
    /// custom operator in a body, so these nodes are before the node with the body.
    fn add_size_nodes(&mut self, graph: &mut GraphProto, node: &NodeProto, is_body: bool) {
        if is_body {
            return;
        }
        let mut names: Vec<_> = node.input.clone();
        names.extend(graphs(node).flat_map(used));
        for name in names {
            self.add_size_node(graph, &name);
        }
    }

    fn add_size_node(&mut self, graph: &mut GraphProto, name: &str) {
        let known = self
            .scope
            .get(name)
            .filter(|known| known.value.is_none() && self.computed.contains(name));
        if let Some(symbols) = known.and_then(|known| known.symbols.clone()) {
            self.computed.remove(name);
            graph.node.push(symbols.node(name));
        }
    }

    fn constant(&self, name: &str) -> Option<Rc<Tensor>> {
        self.computed
            .contains(name)
            .then(|| self.scope.get(name)?.value.clone())
            .flatten()
    }

    /// Adds an initializer for each constant that was computed here and that the graph uses.
    fn add_initializers(&self, graph: &mut GraphProto) {
        let mut seen = HashSet::new();
        let used: Vec<_> = used(graph)
            .into_iter()
            .filter(|name| seen.insert(name.clone()))
            .collect();
        for name in used {
            if let Some(value) = self.constant(&name) {
                graph.initializer.push(value.to_proto(&name));
            }
        }
    }

    /// Copies each small constant that a body uses into the body, since burn-onnx does not lift all constants of the
    /// surrounding graph.
    fn copy_constants_into(&mut self, body: &mut GraphProto) {
        let own: HashSet<_> = body.initializer.iter().map(|tensor| tensor.name.clone()).collect();
        let mut copied: HashMap<String, String> = HashMap::new();
        for node in &mut body.node {
            for name in node.input.iter_mut().filter(|name| !own.contains(*name)) {
                let value = self.scope.get(name.as_str()).and_then(|known| known.value.clone());
                let Some(value) = value.filter(|value| value.data.len() <= 64) else {
                    continue;
                };
                let copies = &mut self.copies;
                let copy = copied.entry(name.clone()).or_insert_with(|| {
                    *copies += 1;
                    let copy = format!("body_constant_{copies}");
                    body.initializer.push(value.to_proto(&copy));
                    copy
                });
                name.clone_from(copy);
            }
        }
    }
}

/// Replaces an `If` by the nodes of a branch.
fn inline(
    mut branch: GraphProto,
    outputs: &[String],
    graph: &mut GraphProto,
    pending: &mut Vec<NodeProto>,
    scope: &mut Scope,
) {
    for initializer in &branch.initializer {
        scope.insert(initializer.name.clone(), Known::of_initializer(initializer));
    }
    graph.initializer.append(&mut branch.initializer);
    let renamed = branch.output.iter().zip(outputs).map(|(inner, outer)| NodeProto {
        op_type: "Identity".to_string(),
        input: vec![inner.name.clone()],
        output: vec![outer.clone()],
        ..NodeProto::default()
    });
    pending.extend(renamed.rev());
    pending.extend(branch.node.into_iter().rev());
}
