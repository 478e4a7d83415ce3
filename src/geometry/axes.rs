//! The two axes of an operator, which are planned alike.

/// What an operator's axes share with all regions, of y and then of x.
pub struct Axes<Rule> {
    /// How samples or bins are laid along each.
    pub rules: [Rule; 2],
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// Height and width of the map.
    pub map: [usize; 2],
}

impl<Rule> Axes<Rule> {
    /// Plans both axes of a region that ends at `ends` along each. `plan` is a function of
    /// [`Coordinate`](super::plan::Coordinate).
    pub fn plan<R: Copy, P: Default>(
        &self,
        ends: [[R; 2]; 2],
        plan: impl Fn(&Rule, [R; 2], usize, usize, &mut P),
    ) -> [P; 2] {
        [0, 1].map(|axis| {
            let mut of_axis = P::default();
            let (elements, size) = (self.output_size[axis], self.map[axis]);
            plan(&self.rules[axis], ends[axis], elements, size, &mut of_axis);
            of_axis
        })
    }
}
